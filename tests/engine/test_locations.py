"""Searches by location, compared with a scan that computes with forty digits."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from itertools import product
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from service.engine.columns import row_budget
from service.engine.columns.column import Rows, build_column
from service.engine.columns.row_budget import OverBudget, within_budget
from service.engine.columns.selection import ManyRows, RowBitmap, ScannedRows, Selection, bit_positions, pack
from service.engine.geography import areas, distance_order, locations as blocks
from service.engine.geography.areas import Area, box_area, circle_area
from service.engine.geography.distance_order import DistanceOrder, order_rows
from service.engine.geography.grid import box_around, squared_chord
from service.engine.geography.locations import Locations, are_within, build_locations, squared_chords
from service.model.coordinates import Box, Circle, Coordinates
from service.model.kinds import number_key
from tests.engine.great_circle import HALF_CIRCUMFERENCE, distance
from tests.engine.oracle import is_in_box
from tests.engine.ranked_keys import ranked

pytestmark = pytest.mark.slow

Texts = tuple[str | None, str | None]

SPECIAL: list[Texts] = [
    *product(("90", "-90"), ("0", "180", "-180", "77.7")),
    *product(("0", "-0.0", "51.5"), ("180", "-180", "179.9999", "-179.99")),
    *[("0", "0"), ("0", "1"), ("0", "-1"), ("1", "0"), ("-1", "0"), ("0", "90"), ("0", "-90"), ("45", "135")],
    *[("89.99999", "10"), ("-89.99999", "-170"), ("1e-999", "-1e-20"), ("4.5e1", "0.0135e4"), ("45.000001", "135")],
]
NOWHERE: list[Texts] = [
    *[(None, None), ("1", None), (None, "1"), ("", "1"), ("1", "north"), ("nan", "1"), ("1", "inf")],
    *[("90.0000000000000000001", "1"), ("-91", "1"), ("1", "180.00000000000000001"), ("1", "-1e999"), ("43,7", "1")],
]
DEGREES = [(90, 0), (-90, 12), (0, 180), (0, -180), (0, 0), (51.5, 179.99), (45, 135), (-60, -179.9), (0, 1)]
POINTS = [Coordinates(*degrees) for degrees in DEGREES]
ANYWHERE = st.sampled_from(POINTS) | st.builds(Coordinates, st.floats(-90, 90), st.floats(-180, 180))
RADII = [1e-9, 1, 50, 1000, 111_195, 111_196, 500_000, 6e6, 1.1e7, 1e300]
RADII += [HALF_CIRCUMFERENCE - 1, HALF_CIRCUMFERENCE + 1]


@cache
def made(seed: int, count: int) -> list[Texts]:
    """Return texts of coordinates: everywhere, in clusters, on the antimeridian, at poles, at one point, and none."""
    random = Random(seed)
    centres = [(random.uniform(-88, 88), random.uniform(-180, 180)) for _ in range(5)]
    centres += [(90, 0), (10, 180), (-70, -180)]

    def anywhere() -> Texts:
        return f"{random.uniform(-90, 90):.6f}", f"{random.uniform(-180, 180):.6f}"

    def clustered() -> Texts:
        latitude, longitude = random.choice(centres)
        latitude, longitude = random.gauss(latitude, 0.05), random.gauss(longitude, 0.05)
        return f"{min(max(latitude, -90), 90):.6f}", f"{(longitude + 180) % 360 - 180:.6f}"

    ways: list[Callable[[], Texts]] = [anywhere, clustered, clustered]
    ways += [lambda: ("45", "135"), lambda: random.choice(SPECIAL + NOWHERE)]
    return [random.choice(ways)() for _ in range(count)]


def located(texts: Sequence[Texts]) -> dict[int, Coordinates]:
    """Return the rows that have a location, and where."""
    found = {}
    for row, (latitude, longitude) in enumerate(texts):
        try:
            degrees = [Decimal(latitude or ""), Decimal(longitude or "")]
        except ArithmeticError:
            continue
        if all(each.is_finite() for each in degrees) and abs(degrees[0]) <= 90 and abs(degrees[1]) <= 180:
            found[row] = Coordinates(float(degrees[0]), float(degrees[1]))
    return found


def locations(texts: Sequence[Texts]) -> Locations:
    columns = []
    for place in (0, 1):
        keys = [None if (text := each[place]) is None else number_key(text) for each in texts]
        columns.append(build_column(*ranked(keys), filters=True))
    return build_locations(*columns)


@cache
def many(seed: int) -> tuple[Locations, dict[int, Coordinates]]:
    texts = made(seed, 600)
    return locations(texts), located(texts)


def rows_of(area: Area) -> Rows:
    """Return the rows in an area, which are the same in each of the ways to find them."""
    rows, every = area.rows(), np.arange(len(area.locations.order), dtype=np.int32)
    assert rows.dtype == np.int32
    assert rows.tolist() == bit_positions(area.bitmap()).tolist() == every[area.matches(every)].tolist()
    assert every[::3][area.matches(every[::3])].tolist() == [row for row in rows.tolist() if row % 3 == 0]
    assert area.count >= len(rows)
    return rows


def test_rows_near_an_area_are_in_the_budget_before_they_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    built, _ = many(1)
    area, every = box_area(built, Box(-180, -90, 180, 90)), np.arange(built.count, dtype=np.int32)
    finds: list[Callable[[], object]] = [area.rows, lambda: area.matches(every)]
    for find, rows in zip(finds, (area.count, len(every)), strict=True):
        monkeypatch.setattr(row_budget, "MOST_ROWS", rows)
        within_budget(find)
        monkeypatch.setattr(row_budget, "MOST_ROWS", rows - 1)
        with pytest.raises(OverBudget):
            within_budget(find)


def within(built: Locations, centre: Coordinates, radius: float) -> Rows:
    """Return the rows in a circle, which are the same if some of many are surely inside."""
    rows = rows_of(circle_area(built, Circle(centre, radius)))
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(areas, "_MANY", 0)
        assert rows_of(circle_area(built, Circle(centre, radius))).tolist() == rows.tolist()
    return rows


def inside(built: Locations, box: Box) -> Rows:
    return rows_of(box_area(built, box))


def by_place(built: Locations, mask: NDArray[np.bool_]) -> ScannedRows:
    """Return the rows in a mask, which are looked for by position."""
    found = RowBitmap(pack(mask), np.arange(len(mask), dtype=np.int32), len(mask))
    return ScannedRows(found, built.order, built.count)


def ways(built: Locations, mask: NDArray[np.bool_]) -> list[ManyRows]:
    """Return the rows in a mask, by number and by position."""
    return [by_place(built, mask), by_place(built, mask).whole()]


def slack(metres: float) -> float:
    """Return how far doubles may be off: they resolve nanometres, but less the nearer the antipode is."""
    return 1 if metres > HALF_CIRCUMFERENCE - 1000 else 5e-9 / math.cos(metres / HALF_CIRCUMFERENCE * math.pi / 2)


def check_order(order: Selection, rows: Sequence[int], points: dict[int, Coordinates], near: Coordinates) -> None:
    """Check that an order has each row once, by distance, equal points by row; then those without, ascending."""
    ordered = order.slice(0, order.total).tolist()
    count = sum(row in points for row in rows)
    assert sorted(ordered) == sorted(rows)
    assert ordered[count:] == sorted(row for row in rows if row not in points)
    exact = [distance(near, points[row]) for row in ordered[:count]]
    for place in range(1, count):
        assert float(exact[place]) >= float(exact[place - 1]) - slack(float(exact[place]))
        if points[ordered[place]] == points[ordered[place - 1]]:
            assert ordered[place] > ordered[place - 1]


def check_pages(order: Selection, count: int, limit: int) -> None:
    """Check that pages add up to the whole, forwards, and backwards with the rows without a distance last."""
    whole = order.slice(0, order.total).tolist()
    backwards = whole[:count][::-1] + whole[count:][::-1]
    for descending, expected in ((False, whole), (True, backwards)):
        for first in range(0, len(whole), limit):
            take = order.descending if descending else order.slice
            assert take(first, min(first + limit, len(whole))).tolist() == expected[first : first + limit]


def test_rows_with_two_decimals_in_range_are_located() -> None:
    texts = SPECIAL + NOWHERE
    built = locations(texts)
    assert (built.positions < built.count).tolist() == [True] * len(SPECIAL) + [False] * len(NOWHERE)
    assert built.count == len(SPECIAL)


@given(st.integers(0, 5), ANYWHERE, st.sampled_from(RADII))
def test_rows_within_a_radius_equal_a_scan(seed: int, near: Coordinates, radius: float) -> None:
    built, points = many(seed)
    found = within(built, near, radius)
    exact = {row: float(distance(near, point)) for row, point in points.items()}
    allowed = slack(radius)
    assert set(found.tolist()) >= {row for row, metres in exact.items() if metres <= radius - allowed}
    assert set(found.tolist()) <= {row for row, metres in exact.items() if metres <= radius + allowed}


@pytest.mark.parametrize("latitude", [0.0, 45.0, -80.0, 89.9, -90.0])
def test_of_many_rows_in_a_circle_those_next_to_its_edge_are_tested(
    monkeypatch: pytest.MonkeyPatch, latitude: float
) -> None:
    random, centre = Random(1), Coordinates(latitude, 5.0)
    box = box_around(centre, 110_000)
    texts = [(f"{random.uniform(box.south, box.north)}", f"{random.uniform(box.west, box.east)}") for _ in range(3000)]
    built = locations(list(texts))
    rows = within(built, centre, 100_000)
    monkeypatch.setattr(areas, "_MANY", 0)
    inside = circle_area(built, Circle(centre, 100_000)).inside
    assert inside is not None
    assert 0.7 * len(rows) < inside.count < len(rows)


@given(st.integers(0, 5), st.data())
def test_the_edge_of_a_radius_belongs_to_it(seed: int, data: st.DataObject) -> None:
    built, points = many(seed)
    row = data.draw(st.sampled_from(sorted(points)))
    near = data.draw(st.sampled_from(POINTS))
    away = float(distance(near, points[row]))
    if away < HALF_CIRCUMFERENCE - 1000:
        assert row in within(built, near, away + slack(away))
        assert away < slack(away) or row not in within(built, near, away - slack(away))
    assert row in within(built, points[row], 5e-324)


@given(st.integers(0, 5), ANYWHERE, st.sampled_from(RADII), st.data())
def test_the_cosine_decides_as_the_chord_does(seed: int, near: Coordinates, radius: float, data: st.DataObject) -> None:
    built, _ = many(seed)
    chords = squared_chords(near, built.points)
    edge = data.draw(st.sampled_from(chords.tolist()))
    for limit in (edge, np.nextafter(edge, 0), squared_chord(radius), math.inf):
        repeated = np.tile(built.points, (20, 1))  # many
        assert are_within(near, limit, repeated).tolist() == (chords <= limit).tolist() * 20


LONGITUDES = st.sampled_from([-180.0, 180.0, 0.0, 135.0, -179.99, 179.9999]) | st.floats(-180, 180)
LATITUDES = st.sampled_from([-90.0, 90.0, 0.0, 45.0, 45.000001]) | st.floats(-90, 90)


@given(st.integers(0, 5), LONGITUDES, LATITUDES, LONGITUDES, LATITUDES)
def test_rows_in_a_box_equal_a_scan(seed: int, west: float, south: float, east: float, north: float) -> None:
    built, points = many(seed)
    box = Box(west, min(south, north), east, max(south, north))
    assert inside(built, box).tolist() == [row for row, point in points.items() if is_in_box(point, box)]


@pytest.mark.parametrize("west", [2.225073858507203e-309, 0.00001])
def test_a_box_around_the_earth_with_a_tiny_gap_has_each_row_once(west: float) -> None:
    built = locations([("0", "0"), ("0", "0.000005"), ("0", "0.00001"), ("0", "-180"), ("0", "180")])
    assert inside(built, Box(west, -1, 0.0, 1)).tolist() == ([0, 1, 2, 3, 4] if west < 1e-9 else [0, 2, 3, 4])


def test_the_two_spellings_of_the_antimeridian_are_two_longitudes_of_a_box_and_one_place() -> None:
    built = locations([("0", "180"), ("0", "-180"), ("90", "5"), ("90", "-5")])
    assert inside(built, Box(180, -1, 180, 1)).tolist() == [0]
    assert inside(built, Box(-180, -1, -180, 1)).tolist() == [1]
    assert inside(built, Box(180, -1, -180, 1)).tolist() == [0, 1]
    every = np.arange(4, dtype=np.int32)
    for near in POINTS:
        first, second, third, fourth = built.squared_chords(near, built.positions[every]).tolist()
        assert (first, third) == (second, fourth)


@given(st.integers(0, 5), ANYWHERE)
def test_distances_equal_those_of_forty_digits_to_one_decimal(seed: int, near: Coordinates) -> None:
    built, points = many(seed)
    rows = np.arange(len(built.order), dtype=np.int32)
    for row, metres in enumerate(built.distances(near, rows)):
        if row not in points:
            assert metres is None
            continue
        assert metres is not None
        exact = float(distance(near, points[row]))
        assert repr(metres) == f"{metres:.1f}"
        assert abs(metres - exact) <= 0.05 + slack(exact)


def test_a_record_at_the_point_has_the_distance_zero() -> None:
    texts = SPECIAL + made(1, 50)
    built = locations(texts)
    for row, point in located(texts).items():
        assert built.distances(point, np.array([row], np.int32)) == [0.0]


@given(st.integers(0, 5), ANYWHERE, st.integers(0, 10))
def test_every_order_by_distance_equals_a_scan(seed: int, near: Coordinates, tenths: int) -> None:
    built, points = many(seed)
    random = Random(seed)
    mask = np.array([random.randrange(10) < tenths for _ in built.order])
    rows = mask.nonzero()[0].astype(np.int32)
    listed = order_rows(built, near, rows)
    for order in (listed, *(DistanceOrder(built, near, each) for each in ways(built, mask))):
        check_order(order, rows.tolist(), points, near)
        check_pages(order, sum(row in points for row in rows.tolist()), 7)
        assert listed.rows.tolist() == order.slice(0, len(rows)).tolist()


@pytest.mark.parametrize("sorted_at_once", [0, 20, 4000])
@given(st.integers(0, 5), ANYWHERE, st.sampled_from(RADII), st.integers(1, 10))
def test_the_rows_in_a_circle_around_the_point_are_the_first_of_all(
    sorted_at_once: int, seed: int, near: Coordinates, radius: float, tenths: int
) -> None:
    built, points = many(seed)
    random = Random(seed)
    mask = np.array([random.randrange(10) < tenths for _ in built.order])
    area = circle_area(built, Circle(near, radius))
    for found, rows in ((None, area.rows()), *((each, area.rows()[mask[area.rows()]]) for each in ways(built, mask))):
        with pytest.MonkeyPatch.context() as limits:
            limits.setattr(distance_order, "_SORTED", sorted_at_once)
            order, expected = DistanceOrder(built, near, found, area), order_rows(built, near, rows)
            assert order.total == order.non_null_count == expected.total
            check_pages(order, len(rows), 7)
            for listed in (order.whole(), order.nearest(5), order.nearest(20), order.nearest(len(rows))):
                if listed is not None:
                    assert listed.total == len(rows)
                    assert len(listed.rows) <= listed.total
                    assert listed.rows.tolist() == expected.rows.tolist()[: len(listed.rows)]
    assert set(rows.tolist()) <= set(points)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Locations], Locations]:
    """Return what makes locations in small blocks, by which any point that is not next to rows is far away."""
    monkeypatch.setattr(blocks, "_SIZE", 4)
    monkeypatch.setattr(blocks, "_BUILT_AT_ONCE", 8)
    monkeypatch.setattr(distance_order, "_FIRST_BLOCKS", 1)
    monkeypatch.setattr(distance_order, "_MAX_RADIUS", 1.0)
    return msgspec.structs.replace


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "near", [*POINTS, Coordinates(-48.8767, -123.3933), Coordinates(0, -140), Coordinates(33, 151)]
)
def test_the_nearest_by_blocks_are_those_of_the_whole_order(
    small_blocks: Callable[[Locations], Locations], seed: int, near: Coordinates
) -> None:
    whole, points = many(seed)
    built, random = small_blocks(whole), Random(seed)
    mask = np.array([random.random() < 0.8 for _ in built.order])
    for found in (None, by_place(built, mask)):
        by_blocks, listed = DistanceOrder(built, near, found), DistanceOrder(whole, near, found).whole()
        check_pages(by_blocks, sum(row in points and (found is None or bool(mask[row])) for row in range(len(mask))), 5)
        for stop in (1, 3, 20, 70):
            assert by_blocks.slice(0, stop).tolist() == listed.slice(0, stop).tolist()
        nearest = by_blocks.nearest(5)
        assert nearest is not None
        assert nearest.rows.tolist() == listed.slice(0, len(nearest.rows)).tolist()


def test_of_blocks_a_far_point_needs_few(small_blocks: Callable[[Locations], Locations]) -> None:
    texts: list[Texts] = [(str(south / 4), str(east / 4)) for south in range(160, 240) for east in range(-20, 140)]
    far = DistanceOrder(small_blocks(locations(texts)), Coordinates(-10, 15))
    found = far._far(3)  # noqa: SLF001 - it has no other name
    assert found is not None
    places, _ = found
    assert 3 <= len(places) <= 8
    assert far.slice(0, 3).tolist() == far.whole().slice(0, 3).tolist()


@given(st.integers(0, 5), ANYWHERE, st.sampled_from([30, 70, 600]))
def test_pages_of_all_rows_have_each_once(seed: int, near: Coordinates, limit: int) -> None:
    built, points = many(seed)
    order = DistanceOrder(built, near)
    assert order.total == len(built.order)
    check_order(order, range(order.total), points, near)
    check_pages(order, len(points), limit)


@pytest.mark.parametrize(
    "near", [Coordinates(45, 135), Coordinates(45.0000001, 135), Coordinates(-45, -45), Coordinates(44, 135)]
)
def test_thousands_of_rows_at_one_point_tie_in_their_order(near: Coordinates) -> None:
    texts: list[Texts] = [("45", "135"), ("45.0", "135.0"), ("46", "135"), (None, None)] * 1000
    built = locations(texts)
    order = DistanceOrder(built, near)
    far, apart = [row for row in range(4000) if row % 4 < 2], [row for row in range(4000) if row % 4 == 2]
    nearest_first = [*apart, *far] if near == (-45, -45) else [*far, *apart]
    assert order.slice(0, 3000).tolist() == nearest_first
    for first in range(0, 4000, 50):
        page = order.slice(first, first + 50)
        assert page.tolist() == [*nearest_first, *range(3, 4000, 4)][first : first + 50]


@pytest.mark.parametrize("texts", [[], NOWHERE], ids=["no rows", "no locations"])
def test_a_table_without_locations_has_nothing_near(texts: list[Texts]) -> None:
    built = locations(texts)
    rows = np.arange(len(texts), dtype=np.int32)
    assert within(built, Coordinates(0, 0), 1e9).tolist() == []
    assert inside(built, Box(-180, -90, 180, 90)).tolist() == []
    assert built.distances(Coordinates(0, 0), rows) == [None] * len(texts)
    for order in (
        DistanceOrder(built, Coordinates(0, 0)),
        order_rows(built, Coordinates(0, 0), rows),
        DistanceOrder(built, Coordinates(0, 0), by_place(built, rows >= 0)),
    ):
        assert order.slice(0, len(texts)).tolist() == rows.tolist()
        assert order.descending(0, len(texts)).tolist() == rows.tolist()[::-1]


@cache
def towns() -> Locations:
    """Return the locations of three towns of 3,000 rows, each a few hundred metres wide, and of one lonely row."""
    random = Random(5)
    centres = [(48.0, 16.0), (48.5, 16.0), (-33.0, 151.0)] * 3000
    texts = [(f"{random.gauss(north, 2e-3):.7f}", f"{random.gauss(east, 2e-3):.7f}") for north, east in centres]
    return locations([*texts, ("48.2", "16.1")])


@pytest.mark.parametrize("share", [1, 2, 100])
@pytest.mark.parametrize(
    "near",
    [(48.0, 16.0), (48.2, 16.1), (48.2, 15.55), (40, 16), (48, -20), (-33, 151.01), (0, 0), (-89, -100), (-48, -164)],
)
def test_pages_of_any_depth_from_any_point_equal_those_of_a_sort(near: tuple[float, float], share: int) -> None:
    built, near = towns(), Coordinates(*near)
    mask = np.arange(len(built.order)) % share == 0
    rows = mask.nonzero()[0].astype(np.int32)
    chords = built.squared_chords(near, built.positions[rows])
    expected = rows[np.lexsort((rows, chords))].tolist()
    order = DistanceOrder(built, near, by_place(built, mask))
    for first in (0, 5, 30, len(rows) // 3, len(rows) // 2, len(rows) - 3):
        for limit in (1, 20):
            stop = min(first + limit, len(rows))
            assert order.slice(first, stop).tolist() == expected[first : first + limit]
            assert order.descending(first, stop).tolist() == expected[::-1][first : first + limit]


def test_few_radii_are_tried_where_thousands_of_rows_are_at_one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    built, tried = locations([("45", "135")] * 3000 + [("46", "135")]), []

    def box(point: Coordinates, radius: float) -> Box:
        tried.append(radius)
        return box_around(point, radius)

    monkeypatch.setattr(distance_order, "box_around", box)
    assert DistanceOrder(built, Coordinates(45, 135)).slice(0, 3).tolist() == [0, 1, 2]
    assert DistanceOrder(built, Coordinates(45.1, 135)).slice(0, 3).tolist() == [0, 1, 2]
    assert len(tried) < 40

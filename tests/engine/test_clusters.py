"""Clusters of maps, compared with a scan that puts each row into its cell by itself."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from random import Random

import msgspec
import numpy as np
import pytest

from service.engine.columns.selection import RowBitmap, RowList, ScannedRows, pack
from service.engine.geography import clusters, z_order
from service.engine.geography.clusters import NO_ROW, Clusters, TooManyCells, cluster
from service.engine.geography.grid import are_in_box
from service.engine.geography.locations import Locations
from service.model.coordinates import Box, Coordinates
from tests.engine.oracle import cell_of, is_in_box
from tests.engine.test_locations import SPECIAL, Texts, located, locations, many
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow

Way = Callable[[Locations, list[int], int], Clusters]

EARTH = Box(-180, -90, 180, 90)
SCALE = 1 << 1074  # the denominators of all floats divide it
GREENWICH = (1e-9, -90, -1e-9, 90)  # all around, but for this meridian
EVERYWHERE = [
    EARTH,
    *(Box(*edges) for edges in ((-180, -85.0511, 180, 85.0511), (-179.9999, -89.9, 179.9999, 89.9), GREENWICH)),
    *(Box(*edges) for edges in ((-100, -60, 100, 70), (100, -60, -100, 70), (180, -90, -180, 90), (180, -90, 180, 90))),
    *(Box(*edges) for edges in ((-180, -90, -180, 90), (-180, 90, 180, 90), (-180, -90, 180, -90), (0, 0, 0, 0))),
    *(Box(*edges) for edges in ((135, 45, 135, 45), (179.5, -30, -179.5, 30), (12.0000001, 30, 12.0000002, 30.1))),
]


def rows_in(places: Locations, rows: list[int], box: Box) -> list[int]:
    """Return the rows that are in a box; all that are located if it has these."""
    inside = are_in_box(box, places.latitudes, places.longitudes)
    assert not places.are_all_in(box) or inside.all()
    return [row for row in rows if (place := places.positions[row]) < places.count and inside[place]]


def scanned(places: Locations, rows: list[int]) -> ScannedRows:
    mask = np.zeros(len(places.order), np.bool_)
    mask[rows] = True
    found = RowBitmap(pack(mask), np.arange(len(mask), dtype=np.int32), len(mask))
    return ScannedRows(found, places.z_order.order, places.count)


def bitmap_of(places: Locations, rows: list[int], zoom: int) -> Clusters:
    return cluster(places, scanned(places, rows), None, zoom)


def list_of(places: Locations, rows: list[int], zoom: int) -> Clusters:
    return cluster(places, RowList(np.array(rows, np.int32), len(rows)), None, zoom)


def all_of(places: Locations, rows: list[int], zoom: int) -> Clusters:
    assert len(rows) == len(places.order)
    return cluster(places, None, None, zoom)


WAYS: list[Way] = [bitmap_of, list_of]


def knowing(places: Locations, cells: int) -> Locations:
    """Return locations where it is known of zooms with so many cells where these begin."""
    found = msgspec.structs.replace(places, z_order=msgspec.structs.replace(places.z_order))
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(z_order, "_LARGE_CELLS", cells)
        found.z_order.starts(0)  # which it keeps
    return found


KNOWN = pytest.mark.parametrize("cells", [0, 40, 1 << 14], ids=["one by one", "runs of large cells", "runs"])


@cache
def scaled(degrees: float) -> int:
    """Return an angle as an exact integer, in units of 1 / `SCALE`."""
    numerator, denominator = degrees.as_integer_ratio()
    return numerator * (SCALE // denominator)


def expected(points: dict[int, Coordinates], rows: Iterable[int], box: Box, zoom: int) -> list[list[int]]:
    """Return the rows of each cell that has any, in order."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in rows:
        if row in points and is_in_box(points[row], box):
            cells[cell_of(points[row], zoom)].append(row)
    return [cells[each] for each in sorted(cells)]


def check(found: Clusters, points: dict[int, Coordinates], cells: list[list[int]]) -> None:
    """Check that clusters are those of cells with some rows."""
    assert found.counts.tolist() == list(map(len, cells))
    assert found.rows.tolist() == [rows[0] if len(rows) == 1 else NO_ROW for rows in cells]
    means = list(map(Coordinates, found.latitudes.tolist(), found.longitudes.tolist()))
    for rows, mean in zip(cells, means, strict=True):
        if len(rows) == 1:
            assert mean == points[rows[0]]
        for axis, degrees in enumerate(mean):
            total, unit = sum(scaled(points[row][axis]) for row in rows), SCALE * len(rows)
            # Coordinates of these tests have six decimals, so a mean is only rounded once; halves upwards.
            rounded = ((total * 10**7 + unit // 2) * 10**6 + unit) // (unit * 10**6) / 10**7
            assert len(rows) == 1 or degrees == rounded


def boxes(random: Random, points: dict[int, Coordinates], count: int) -> list[Box]:
    """Return boxes of all sizes, whose edges are coordinates of rows, or next to them."""

    def edges(axis: int) -> list[float]:
        pair = [random.choice(list(points.values()))[axis] for _ in range(2)]
        return [random.choice((value, math.nextafter(value, 400), value - 1e-8, value + 3)) for value in pair]

    found = []
    for _ in range(count):
        west, east = (min(max(edge, -180), 180) for edge in edges(1))
        south, north = sorted(min(max(edge, -90), 90) for edge in edges(0))
        found.append(Box(west, south, east, north))
    return found


@KNOWN
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.ci)])
def test_clusters_are_those_of_a_scan(monkeypatch: pytest.MonkeyPatch, seed: int, cells: int) -> None:
    monkeypatch.setattr(clusters, "_FEW", seed * 1000)
    whole, points = many(seed)
    places, random = knowing(whole, cells), Random(seed)
    every = list(range(len(places.order)))
    for box in some_of(EVERYWHERE + boxes(random, points, 40), 2, seed):
        for zoom in random.sample(range(23), 4):
            check(cluster(whole, None, None, zoom), points, expected(points, every, EARTH, zoom))
            rows = sorted(random.sample(every, random.choice((0, 1, 2, 30, 300, 599, 600))))
            for way in WAYS:
                check(way(places, rows, zoom), points, expected(points, rows, EARTH, zoom))
                check(way(places, rows_in(places, rows, box), zoom), points, expected(points, rows, box, zoom))
            check(cluster(places, None, box, zoom), points, expected(points, every, box, zoom))
            inside = expected(points, rows, box, zoom)
            check(cluster(places, RowList(np.array(rows, np.int32), len(rows)), box, zoom), points, inside)
            for near, scan in product((0, 2, 1000), (True, False)):  # always, sometimes or never by the box alone
                monkeypatch.setattr(clusters, "_NEAR", near)
                some = scanned(places, rows) if scan else scanned(places, rows).whole()
                check(cluster(places, some, box, zoom), points, inside)


def test_rows_on_the_edges_of_a_box_and_next_to_them_are_tested_by_degrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters, "_NEAR", 1000)
    edges = (-3e-8, -2e-8, 0.0, 2e-8, 3e-8, 1.0, 180.0, -180.0)  # of which some are equal in units
    texts = [(f"{north:.9f}", f"{east:.9f}") for north, east in product(edges[:6], edges)]
    places, rows = locations(texts), list(range(len(texts)))
    for west, east, south in product(edges, edges, edges[:6]):
        box = Box(west, south, east, 1.0)
        found = cluster(places, scanned(places, rows), box, 22)
        assert found.counts.sum() == len(rows_in(places, rows, box))


@KNOWN
@pytest.mark.parametrize("most", [16, 40, 100])
def test_too_many_cells_are_an_error_with_the_greatest_zoom_that_has_fewer(
    monkeypatch: pytest.MonkeyPatch, most: int, cells: int
) -> None:
    monkeypatch.setattr(clusters, "MAX_CELLS", most)
    whole, points = many(5)
    places = knowing(whole, cells)
    every = list(range(len(places.order)))
    thin = every[::2]
    for some, rows, ways in ((whole, every, [all_of]), (places, thin, WAYS)):
        numbers = [len(expected(points, rows, EARTH, zoom)) for zoom in range(23)]
        greatest = max(zoom for zoom, number in enumerate(numbers) if number <= most)
        for zoom in range(23):
            for way in ways:
                if zoom <= greatest:
                    assert len(way(some, rows, zoom)) == numbers[zoom]
                else:
                    with pytest.raises(TooManyCells) as error:
                        way(some, rows, zoom)
                    assert error.value.zoom == greatest


def test_four_thousand_cells_are_not_too_many() -> None:
    """Each row is in a cell of its own from zoom 4 on, but two of 4,001 are together up to zoom 7."""
    width = 360 / 64
    texts = [
        (f"{math.degrees(math.atan(math.sinh(math.pi * (1 - (line + 0.5) / 32))))}", f"{(column + 0.5) * width - 180}")
        for line in range(1, 64)
        for column in range(64)
    ][:4000]
    rows = list(range(4000))
    for way in WAYS:
        assert len(way(locations(texts), rows, 22)) == 4000
    more = locations([*texts, (texts[0][0], f"{float(texts[0][1]) + width / 12}")])
    for way in (*WAYS, all_of):
        assert len(way(more, [*rows, 4000], 7)) == 4000
        with pytest.raises(TooManyCells, match=r"^more than 4,000 cells; use zoom 7 or less$"):
            way(more, [*rows, 4000], 8)


@pytest.mark.parametrize("texts", [[], [(None, None), ("1", None)]], ids=["no rows", "none located"])
def test_no_rows_have_no_clusters(texts: list[Texts]) -> None:
    places = locations(texts)
    for zoom in (0, 22):
        for way in (*WAYS, all_of):
            assert len(way(places, list(range(len(texts))), zoom)) == 0
    assert not places.are_all_in(EARTH)


def test_the_clusters_of_all_zooms_at_special_points_are_those_of_a_scan() -> None:
    places, points = locations(SPECIAL), located(SPECIAL)
    for zoom in range(23):
        check(cluster(places, None, None, zoom), points, expected(points, range(len(SPECIAL)), EARTH, zoom))

"""The Web-Mercator grid, compared with the functions of libraries, and exact at its borders."""

import math
from random import Random

import numpy as np

from service.engine.geography.z_order import AXIS, columns, interleave, lines, separate, zooms_of

CELLS = 2**24


def line(latitude: float) -> int:
    return int(lines(np.array([latitude]))[0])


def column(longitude: float) -> int:
    return int(columns(np.array([longitude]))[0])


def border(number: float) -> float:
    """Return the latitude of the northern border of a line."""
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * number / CELLS))))


def test_a_border_of_columns_belongs_to_the_eastern_one() -> None:
    numbers = [2**power for power in range(24)] + [Random(1).randrange(1, CELLS) for _ in range(10_000)]
    longitudes = [360 * number / CELLS - 180 for number in numbers]
    assert columns(np.array(longitudes)).tolist() == numbers
    assert columns(np.nextafter(longitudes, 400)).tolist() == numbers
    assert columns(np.nextafter(longitudes, -400)).tolist() == [number - 1 for number in numbers]
    assert AXIS == CELLS


def test_both_sides_of_the_antimeridian_are_the_outer_columns() -> None:
    assert (column(-180), column(180), column(math.nextafter(180, 0))) == (0, CELLS - 1, CELLS - 1)


def test_lines_are_those_between_their_borders() -> None:
    random = Random(2)
    numbers = [2**power for power in range(5, 24)] + [CELLS - 2**power - 1 for power in range(5, 24)]
    numbers += [random.randrange(16, CELLS - 16) for _ in range(10_000)]
    assert lines(np.array([border(number + 0.0001) for number in numbers])).tolist() == numbers
    assert lines(np.array([border(number + 0.9999) for number in numbers])).tolist() == numbers


def test_the_equator_belongs_to_the_southern_line() -> None:
    assert (line(0.0), line(-0.0), line(1e-9), line(-1e-9)) == (CELLS // 2, CELLS // 2, CELLS // 2 - 1, CELLS // 2)


def test_latitudes_are_clamped() -> None:
    for latitude in (85.0511, 85.05112878, 86, 90):
        assert line(latitude) == line(85.0511)
        assert line(-latitude) == line(-85.0511) == CELLS - 1 - line(latitude)
    assert line(85.051) > line(85.0511)
    assert border(line(85.0511)) > 85.0511 > border(line(85.0511) + 1)


def test_lines_ascend_from_north_to_south() -> None:
    random = Random(3)
    starts = [random.uniform(-85.05, 85.05) for _ in range(2000)]
    latitudes = np.array(sorted([start + step * 1e-13 for start in starts for step in range(5)], reverse=True))
    found = lines(latitudes).astype(np.int64)
    assert (np.diff(found) >= 0).all()


def test_the_bits_of_a_code_are_those_of_column_and_line_in_turn() -> None:
    random = Random(4)
    anywhere = [(random.randrange(CELLS), random.randrange(CELLS)) for _ in range(100)]
    for x, y in [(0, 0), (1, 0), (0, 1), (CELLS - 1, CELLS - 1), *anywhere]:
        (code,) = interleave(np.array([x], np.uint64), np.array([y], np.uint64)).tolist()
        bits = f"{code:048b}"
        assert (int(bits[1::2], 2), int(bits[::2], 2)) == (x, y)
        assert [int(each[0]) for each in separate(np.array([code], np.uint64))] == [x, y]


def test_a_zoom_is_the_least_at_which_the_cells_of_neighbours_differ() -> None:
    random = Random(5)
    codes = sorted({random.randrange(1 << random.randrange(1, 49)) for _ in range(2000)})
    codes = sorted(codes + codes[::7])
    assert zooms_of(np.array(codes, np.uint64)).tolist() == [
        next((zoom for zoom in range(23) if not place or (codes[place - 1] ^ code) >> 2 * (22 - zoom)), 23)
        for place, code in enumerate(codes)
    ]
    assert zooms_of(np.empty(0, np.uint64)).tolist() == []

"""The base map of the explorer, made from a small map."""

from pathlib import Path

import pytest

from tests.test_countries import geometry, square, write_map
from tools import base_map

DETAIL = base_map.Detail(zoom=3, steps=10, pixels=0.5, smallest=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a map of two countries side by side, the western one with two states, and a small island."""
    west, east, south = geometry([square(0, 0)]), geometry([square(1, 0)]), geometry([square(0, -1)])
    island, ice = geometry([square(50, 50, 0.01)]), geometry([square(0, -80)])
    # An outline that has the points of both of its states.
    both = geometry([[(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (0, 0), (0, -1)]])
    shapes = {"countries": [both, east, island, ice], "states_provinces": [west, south, east, island, ice]}
    return write_map(tmp_path, {table: ("geom", [(each,) for each in made]) for table, made in shapes.items()})


def test_coasts_are_rings_and_each_border_is_one_line(file: Path) -> None:
    countries, states = base_map.read(file)
    lines = base_map.base_map(countries, states, DETAIL, provinces=True)
    assert len(lines.land) == 1
    assert lines.countries == [base_map.written([(1.0, 0.0), (1.0, 1.0)], 10)]
    assert lines.provinces == [base_map.written([(0.0, 0.0), (1.0, 0.0)], 10)]
    assert base_map.base_map(countries, states, DETAIL, provinces=False).provinces == []


def test_points_on_a_straight_line_are_left_out_and_others_kept() -> None:
    line: base_map.Line = [(0.0, 0.0), (5.0, 0.001), (10.0, 0.0), (10.0, 10.0)]
    assert base_map.simplified(line, DETAIL) == [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]


def test_a_line_is_written_as_an_encoded_polyline() -> None:
    """With the example of the format's documentation, whose latitudes come first."""
    assert (
        base_map.written([(38.5, -120.2), (40.7, -120.95), (43.252, -126.453)], 100_000)
        == "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    )


def test_a_point_that_is_rounded_to_the_one_before_is_left_out() -> None:
    assert base_map.written([(0.0, 0.0), (0.01, 0.0), (1.0, 0.0)], 10) == base_map.written([(0.0, 0.0), (1.0, 0.0)], 10)

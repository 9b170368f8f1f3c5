"""The names on the explorer's map, made from a small map."""

from pathlib import Path

from tests.test_countries import geometry, square, write_map
from tools import map_names


def test_a_name_is_in_the_middle_of_its_largest_part_and_shown_where_that_is_wide_enough(tmp_path: Path) -> None:
    """Of a map of two countries, one of which has two states, one far south, and of places without names."""
    land, island = geometry([square(50, 50, 0.1)], [square(0, 0, 10)]), geometry([square(30, 0, 0.1)])
    south = geometry([square(0, -80, 10)])  # which the map does not have
    countries = [("AA", "Land", land), ("BB", None, island), ("-1", "Nowhere", land), ("AQ", "Far", south)]
    states = [("Wide", land), ("Smallest of all the islands", island), (None, land)]
    file = write_map(
        tmp_path, {"countries": ("iso_a2, name, geom", countries), "states_provinces": ("name, geom", states)}
    )
    names = map_names.names(file)
    (first, second) = names.countries
    assert (first[0], first[1:3], second[0]) == ("AA", (5.0, 5.0), "BB")
    assert 2 <= first[3] < second[3]
    assert [name for name, *_ in names.provinces] == ["Wide"]


def test_a_name_is_inside_of_an_area_with_a_bay() -> None:
    bay = [0, 0, 10, 0, 10, 10, 8, 10, 8, 1, 2, 1, 2, 10, 0, 10, 0, 0]
    x, y, width = map_names.middle(bay)
    assert (y, width) == (5, 2)
    assert x in (1, 9)

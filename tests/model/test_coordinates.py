"""Points and boxes in requests; other texts, and their errors, are compared in `tests/fastapi_model`."""

from hypothesis import given, strategies as st

from service.model.coordinates import Box, Coordinates, parse_box, parse_point

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)


@given(LATITUDES, LONGITUDES)
def test_a_point_is_read_as_it_is_written(latitude: float, longitude: float) -> None:
    assert parse_point(f"{latitude!r},{longitude!r}") == Coordinates(latitude, longitude)


@given(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES)
def test_a_box_is_read_as_it_is_written_and_may_cross_the_antimeridian(
    west: float, south: float, east: float, north: float
) -> None:
    south, north = sorted((south, north))
    assert parse_box(f"{west!r},{south!r},{east!r},{north!r}") == Box(west, south, east, north)

"""Points and boxes in requests."""

import pytest
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


@pytest.mark.parametrize(
    "text", ["43.65,-79.38", " 43.65 , -79.38 ", "+43.650,-7938e-2", "43.65,\t-79.38", "4.365e1,-79.38"]
)
def test_spellings_of_a_point_are_equal(text: str) -> None:
    assert parse_point(text) == Coordinates(43.65, -79.38)


def test_zero_has_no_sign() -> None:
    assert str(parse_point("-0,-0.0")) == str(Coordinates(0.0, 0.0))


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", "43.65", "43.65,", ",-79.38", "43.65,-79.38,", "43.65,-79.38,1", "43.65;-79.38", "43.65 -79.38"),
        *("90.00000000000000000001,0", "0,-1.8000000000000000000001e2", f"-90.{'0' * 50}1,180"),
        *("nan,0", "0,inf", "1e999,0", "1_0,0", "0x1,0", "90.01,0", "-91,0", "0,180.1", "0,-181", "\u0661,0", "a,b"),
    ],
)
def test_anything_else_is_no_point(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected latitude,longitude in decimal degrees, such as 43\.65,-79\.38$"):
        parse_point(text)


@pytest.mark.parametrize(
    "text",
    ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "0,91,0,91", "181,-91,0,0", "0,0,0,nan"],
)
def test_anything_else_is_no_box(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected west,south,east,north in decimal degrees, such as -79"):
        parse_box(text)


@pytest.mark.parametrize("text", ["181,0,0,0", "0,0,180.00000000000000000001,0", "-190,1,170,0", "0,0,1e999,0"])
def test_a_longitude_beyond_the_antimeridian_is_an_error_that_says_how_to_cross_it(text: str) -> None:
    why = r"^longitudes must be between -180 and 180; west greater than east crosses the antimeridian$"
    with pytest.raises(ValueError, match=why):
        parse_box(text)


def test_the_south_of_a_box_is_not_greater_than_its_north() -> None:
    for text in ("0,1,0,-1", "0,1.00000000000000000001,0,1"):
        with pytest.raises(ValueError, match=r"^south must not be greater than north$"):
            parse_box(text)


def test_what_is_next_to_a_bound_is_within_it() -> None:
    assert parse_point("89.99999999999999999999,-180.0000000000000000000") == Coordinates(90.0, -180.0)

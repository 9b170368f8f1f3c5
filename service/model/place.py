"""Places: points, circles and boxes on the earth, in decimal degrees, and how requests write them; zooms of maps."""

from typing import Final, NamedTuple

from service.model.kinds import NUMBER_PATTERN

MAX_LATITUDE: Final = 90
MAX_LONGITUDE: Final = 180
MAX_ZOOM: Final = 22
_POINT: Final = "expected latitude,longitude in decimal degrees, such as 43.65,-79.38"
_BOX: Final = "expected west,south,east,north in decimal degrees, such as -79.6,43.5,-79.1,43.9"


class Point(NamedTuple):
    """A point, in degrees."""

    latitude: float
    longitude: float


class Circle(NamedTuple):
    """The points at most `radius` metres from a centre, along the surface of the earth."""

    centre: Point
    radius: float


class Box(NamedTuple):
    """The points between two parallels and two meridians, in degrees, edges included.

    If west is greater than east, it crosses the antimeridian. The order is that of RFC 7946 section 5.
    """

    west: float
    south: float
    east: float
    north: float


def parse_point(text: str) -> Point:
    """Return the point of a text such as `43.65,-79.38`. Raises `ValueError` with the reason."""
    latitude, longitude = _degrees(text, 2, _POINT)
    if abs(latitude) > MAX_LATITUDE or abs(longitude) > MAX_LONGITUDE:
        raise ValueError(_POINT)
    return Point(latitude, longitude)


def parse_box(text: str) -> Box:
    """Return the box of a text such as `-79.6,43.5,-79.1,43.9`. Raises `ValueError` with the reason."""
    west, south, east, north = _degrees(text, 4, _BOX)
    if max(abs(south), abs(north)) > MAX_LATITUDE or max(abs(west), abs(east)) > MAX_LONGITUDE:
        raise ValueError(_BOX)
    if south > north:
        raise ValueError("south must not be greater than north")
    return Box(west, south, east, north)


def decimal(text: str) -> float | None:
    """Return a decimal as a double, perhaps infinite; None for any other text."""
    stripped = text.strip()
    return float(stripped) if NUMBER_PATTERN.fullmatch(stripped) else None


def _degrees(text: str, count: int, expected: str) -> list[float]:
    """Return decimals that are separated by commas; 0 has no sign."""
    numbers = [number + 0.0 for part in text.split(",", count) if (number := decimal(part)) is not None]
    if len(numbers) != count or text.count(",") != count - 1:
        raise ValueError(expected)
    return numbers

"""Coordinates: points, circles and boxes on the earth, in decimal degrees; how requests write them; zooms of maps."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE, NUMBER_PATTERN

MAX_ZOOM: Final = 22
_POINT: Final = "expected latitude,longitude in decimal degrees, such as 43.65,-79.38"
_LONGITUDES: Final = (
    f"longitudes must be between -{MAX_LONGITUDE} and {MAX_LONGITUDE}; west greater than east crosses the antimeridian"
)
_BOX: Final = "expected west,south,east,north in decimal degrees, such as -79.6,43.5,-79.1,43.9"


class Coordinates(NamedTuple):
    """A point, in degrees."""

    latitude: float
    longitude: float


class Circle(NamedTuple):
    """The points at most `radius` metres from a centre, along the surface of the earth."""

    centre: Coordinates
    radius: float


class Box(NamedTuple):
    """The points between two parallels and two meridians, in degrees, edges included.

    If west is greater than east, it crosses the antimeridian. The order is that of RFC 7946 section 5.
    """

    west: float
    south: float
    east: float
    north: float


def parse_point(text: str) -> Coordinates:
    """Return the point of a text such as `43.65,-79.38`. Raises `ValueError` with the reason."""
    return Coordinates(*map(_double, _degrees(text, (MAX_LATITUDE, MAX_LONGITUDE), _POINT)))


def parse_box(text: str) -> Box:
    """Return the box of a text such as `-79.6,43.5,-79.1,43.9`. Raises `ValueError` with the reason."""
    edges = _degrees(text, (math.inf, MAX_LATITUDE) * 2, _BOX)
    west, south, east, north = edges
    if min(west, east) < -MAX_LONGITUDE or max(west, east) > MAX_LONGITUDE:
        raise ValueError(_LONGITUDES)
    if south > north:
        raise ValueError("south must not be greater than north")
    return Box(*map(_double, edges))


def _degrees(text: str, largest: Sequence[float], expected: str) -> list[Decimal]:
    """Return decimals that are separated by commas, and no larger than these; exact, like those of records."""
    parts = [part.strip() for part in text.split(",", len(largest))]
    if len(parts) != len(largest) or not all(map(NUMBER_PATTERN.fullmatch, parts)):
        raise ValueError(expected)
    numbers = list(map(Decimal, parts))
    if not all(-most <= number <= most for number, most in zip(numbers, largest, strict=True)):
        raise ValueError(expected)
    return numbers


def _double(number: Decimal) -> float:
    """Return the nearest double; 0 has no sign."""
    return float(number) + 0.0

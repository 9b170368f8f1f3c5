"""The earth as a sphere: positions as unit vectors, distances as chords between them."""

import math
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from service.model.coordinates import Box, Position

Floats = NDArray[np.float64]
_Degrees = TypeVar("_Degrees", float, Floats)

EARTH_RADIUS: Final = 6_371_008.8  # metres
_QUARTER: Final = 90  # degrees
_HALF: Final = 2 * _QUARTER
_TERMS: Final = range(9, -1, -1)
_SINE: Final = [(-1) ** term / math.factorial(2 * term + 1) for term in _TERMS]
_COSINE: Final = [(-1) ** term / math.factorial(2 * term) for term in _TERMS]
_MARGIN: Final = 1e-5  # degrees; far above the rounding errors of the box around a circle


def unit_vector(latitude: _Degrees, longitude: _Degrees) -> tuple[_Degrees, _Degrees, _Degrees]:
    """Return the coordinates of points on the unit sphere.

    Both spellings of the antimeridian, and all longitudes of a pole, give the same vector.
    """
    (sine, cosine), (east, ahead) = sine_cosine(latitude), sine_cosine(longitude)
    return cosine * ahead, cosine * east, sine


def sine_cosine(degrees: _Degrees) -> tuple[_Degrees, _Degrees]:
    """Return sine and cosine of angles from -180 to 180 degrees; those of multiples of 90 are exact.

    Arithmetic alone, whose results are the same on every processor, unlike those of libraries: the same data must give
    the same baked file.
    """
    quarters = (degrees + _QUARTER / 2) // _QUARTER
    angle = (degrees - quarters * _QUARTER) * (math.pi / _HALF)
    square = angle * angle
    sine = angle * polynomial(_SINE, square)
    cosine = polynomial(_COSINE, square)
    turned_sine, turned_cosine = quarters * (2 - abs(quarters)), 1 - abs(quarters)  # exact: -1, 0 or 1
    return sine * turned_cosine + cosine * turned_sine, cosine * turned_cosine - sine * turned_sine


def polynomial(coefficients: list[float], at: _Degrees) -> _Degrees:
    """Return the value of a polynomial, whose coefficients begin with that of the highest power."""
    total = 0 * at
    for coefficient in coefficients:
        total = total * at + coefficient
    return total


def squared_chord(radius: float) -> float:
    """Return the square of the chord that spans a distance in metres, infinity if no two points are farther apart."""
    angle = radius / EARTH_RADIUS
    return math.inf if angle >= math.pi else (2 * math.sin(angle / 2)) ** 2


def rounded_metres(squared_chords: Floats) -> Floats:
    """Return the distances that chords span, along the surface, to one decimal."""
    metres: Floats = 2 * EARTH_RADIUS * np.arcsin(np.minimum(np.sqrt(squared_chords) / 2, 1))
    return metres.round(1)


def box_around(point: Position, radius: float) -> Box:
    """Return a box that contains all points within a distance in metres, and few others."""
    latitude, longitude = point
    angle = radius / EARTH_RADIUS
    height = math.degrees(angle) + _MARGIN
    south, north = max(latitude - height, -_QUARTER), min(latitude + height, _QUARTER)
    if south == -_QUARTER or north == _QUARTER:  # a pole is inside, or as good as
        return Box(-_HALF, south, _HALF, north)
    width = math.degrees(math.asin(math.sin(angle) / math.cos(math.radians(latitude)))) + _MARGIN
    west, east = longitude - width, longitude + width
    return Box(west + 2 * _HALF if west < -_HALF else west, south, east - 2 * _HALF if east > _HALF else east, north)

"""Means of points: of their unit vectors, by arithmetic that is the same in any order and on every processor."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.engine.geography.grid import Floats

_BITS: Final = 27  # a coordinate of a unit vector is split in two integers of so many bits, whose sums are exact
_UNIT: Final = float(1 << _BITS)
# Vectors are rounded to micrometres on the earth, so that means that are the same but for rounding errors tie.
_GRID: Final = float(1 << 42)
_SHORTEST: Final = 1e-9  # of a mean that has a direction
_DECIMALS: Final = 1e5
_HALF_CIRCLE: Final = 180.0  # degrees
_EIGHTH: Final = math.sqrt(2) - 1  # the tangent of an eighth of a half circle
# The coefficients of the series of the arctangent up to there, the highest power first.
_SERIES: Final = [(-1) ** term / (2 * term + 1) for term in range(22, -1, -1)]


def mean_vectors(groups: NDArray[np.integer], vectors: Floats, count: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return for each of `count` groups the unit vector towards the mean of its vectors, and whether there is one.

    groups   the group of each vector
    vectors  unit vectors, a row for each

    A group whose vectors are those of another, each as often again, has the same mean to the bit.
    """
    sizes = np.bincount(groups, minlength=count)
    divisors = np.maximum(sizes, 1)
    means = np.empty((count, vectors.shape[1]))
    for axis, coordinates in enumerate(vectors.T * _UNIT):
        whole = np.rint(coordinates)
        high, low = (
            np.bincount(groups, part, count).astype(np.int64)
            for part in (whole, np.rint((coordinates - whole) * _UNIT))
        )
        quotients, rest = np.divmod(high, divisors)
        means[:, axis] = (quotients + ((rest << _BITS) + low) / divisors / _UNIT) / _UNIT
    x, y, z = means.T
    lengths = np.sqrt(x * x + y * y + z * z)
    has_direction = (sizes > 0) & (lengths >= _SHORTEST)
    means /= np.where(has_direction, lengths, 1)[:, np.newaxis]
    return np.rint(means * _GRID) / _GRID, has_direction


def rounded_degrees(vectors: Floats) -> tuple[Floats, Floats]:
    """Return the latitudes and longitudes of unit vectors in degrees, to five decimals; none is -180."""
    x, y, z = vectors.T
    latitudes, longitudes = (
        np.rint(angles * (_HALF_CIRCLE / math.pi) * _DECIMALS) / _DECIMALS + 0.0
        for angles in (_arctangent(z, np.sqrt(x * x + y * y)), _arctangent(y, x))
    )
    return latitudes, np.where(longitudes == -_HALF_CIRCLE, _HALF_CIRCLE, longitudes)


def _arctangent(y: Floats, x: Floats) -> Floats:
    """Return the angles of points of the plane, of arithmetic alone; 0 of the origin."""
    opposite, adjacent = abs(y), abs(x)
    larger = np.maximum(opposite, adjacent)
    tangent = np.minimum(opposite, adjacent) / np.where(larger > 0, larger, 1)
    is_wide = tangent > _EIGHTH
    tangent = np.where(is_wide, (tangent - 1) / (tangent + 1), tangent)
    square, total = tangent * tangent, 0 * tangent
    for coefficient in _SERIES:
        total = total * square + coefficient
    angles = tangent * total + np.where(is_wide, math.pi / 4, 0)
    angles = np.where(opposite > adjacent, math.pi / 2 - angles, angles)
    angles = np.where(x < 0, math.pi - angles, angles)
    signed: Floats = np.where(y < 0, -angles, angles)
    return signed

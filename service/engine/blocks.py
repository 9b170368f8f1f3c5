"""Blocks of located rows that are neighbours along the Z-order, and a sphere around each: what is near a far point."""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from service.engine.column import Rows
from service.engine.long_work import announce
from service.engine.sphere import Floats

_SIZE: Final = 256
# The blocks whose spheres are computed at once: their vectors take some megabytes.
_BUILT_AT_ONCE: Final = 1024
# The blocks that are looked at first, beside those for the needed rows; then twice as many, up to this part of all.
_FIRST: Final = 8
_MOST_PART: Final = 8
# Far above the rounding errors of distances between unit vectors.
_SLACK: Final = 1e-9


class Blocks(msgspec.Struct, frozen=True, eq=False):
    """The blocks of some points.

    places   the places of the points along the Z-order: each block has 256 of them, and the last the rest
    centres  block -> the mean of its unit vectors
    radii    block -> the largest distance of one of these from there
    """

    places: Rows
    centres: Floats
    radii: Floats

    def nearest(self, vector: tuple[float, float, float], number: int) -> Iterator[tuple[Rows, float]]:
        """Yield the places of ever more blocks near a unit vector, at first of a number of rows or more.

        With them comes the least distance that a point of any other block can have.
        """
        bounds = np.sqrt(((self.centres - vector) ** 2).sum(axis=1)) - self.radii - _SLACK
        most, blocks = len(bounds) // _MOST_PART, _FIRST + number // _SIZE
        while blocks < most:
            chosen = np.argpartition(bounds, blocks)[: blocks + 1]
            starts = _SIZE * chosen[:-1]
            places = (starts[:, np.newaxis] + np.arange(_SIZE)).ravel()
            yield self.places.take(places[places < len(self.places)]), float(bounds[chosen[-1]])
            blocks *= 2


def build_blocks(places: Rows, points: Floats) -> Blocks:
    """Return the blocks of unit vectors, given the place of each along the Z-order."""
    announce(len(places))
    count = -(-len(places) // _SIZE)
    centres, radii = np.empty((count, 3)), np.empty(count)
    for first in range(0, count, _BUILT_AT_ONCE):
        vectors = points.take(places[_SIZE * first : _SIZE * (first + _BUILT_AT_ONCE)], axis=0)
        starts = np.arange(0, len(vectors), _SIZE)
        sizes = np.diff(starts, append=len(vectors))
        built = slice(first, first + len(starts))
        centres[built] = np.add.reduceat(vectors, starts, axis=0) / sizes[:, np.newaxis]
        squares = ((vectors - centres[built].repeat(sizes, axis=0)) ** 2).sum(axis=1)
        radii[built] = np.sqrt(np.maximum.reduceat(squares, starts))
    return Blocks(places, centres, radii)

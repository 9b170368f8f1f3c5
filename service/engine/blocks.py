"""Blocks of located rows that are neighbours along the Z-order, and a sphere around each: what is near a far point."""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import Rows
from service.engine.long_work import announce
from service.engine.sphere import Floats

_SIZE: Final = 512
# The blocks whose spheres are computed at once: their vectors take some megabytes.
_BUILT_AT_ONCE: Final = 512
# To build the block of a row takes as long as to look at so many.
_BUILDING: Final = 8
# Far above the rounding errors of distances between unit vectors.
_SLACK: Final = 1e-9


class Blocks(msgspec.Struct, frozen=True, eq=False):
    """The blocks of some points.

    rows     the rows of the points along the Z-order: each block has 512 of them, and the last the rest
    places   row -> the place of its point
    centres  block -> the mean of its unit vectors
    radii    block -> the largest distance of one of these from there
    """

    rows: Rows
    places: Rows
    centres: Floats
    radii: Floats

    def bounds(self, vector: tuple[float, float, float]) -> Floats:
        """Return for each block the least distance that one of its points can have from a unit vector."""
        bounds: Floats = np.sqrt(((self.centres - vector) ** 2).sum(axis=1)) - self.radii - _SLACK
        return bounds

    def places_in(self, blocks: NDArray[np.intp]) -> Rows:
        """Return the places of the points in some blocks."""
        along = (_SIZE * blocks[:, np.newaxis] + np.arange(_SIZE)).ravel()
        return self.places.take(self.rows.take(along[along < len(self.rows)]))


def build_blocks(rows: Rows, places: Rows, points: Floats) -> Blocks:
    """Return the blocks of unit vectors by place, given their rows along the Z-order and the place of each row."""
    announce(_BUILDING * len(rows))
    count = -(-len(rows) // _SIZE)
    centres, radii = np.empty((count, 3)), np.empty(count)
    for first in range(0, count, _BUILT_AT_ONCE):
        some = rows[_SIZE * first : _SIZE * (first + _BUILT_AT_ONCE)]
        vectors = points.take(places.take(some), axis=0)
        starts = np.arange(0, len(vectors), _SIZE)
        sizes = np.diff(starts, append=len(vectors))
        built = slice(first, first + len(starts))
        centres[built] = np.add.reduceat(vectors, starts, axis=0) / sizes[:, np.newaxis]
        squares = ((vectors - centres[built].repeat(sizes, axis=0)) ** 2).sum(axis=1)
        radii[built] = np.sqrt(np.maximum.reduceat(squares, starts))
    return Blocks(rows, places, centres, radii)

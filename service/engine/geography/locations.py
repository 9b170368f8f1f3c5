"""The locations of the rows of a table, and their distances from a point."""

from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, StringArray, sort_rows
from service.engine.columns.row_budget import LOOKED_UP, spend
from service.engine.geography.grid import (
    Floats,
    GridCells,
    grid_cells,
    rounded_metres,
    unit_vector,
)
from service.engine.geography.z_order import ZOrder, build_z_order
from service.model.coordinates import Box, Coordinates
from service.model.kinds import COMPLEMENT, MAX_LATITUDE, MAX_LONGITUDE, POINT_SCALE, key_number, number_key

_SIZE: Final = 512
# The blocks whose spheres are computed at once: their vectors take some megabytes.
_BUILT_AT_ONCE: Final = 512
# To build the block of a row takes as long as to look at so many.
_BUILDING: Final = 8
# Far above the rounding errors of distances between unit vectors.
_SLACK: Final = 1e-9


class Blocks(msgspec.Struct, frozen=True, eq=False):
    """The blocks of some points.

    positions  the positions of the points along the Z-order: each block has 512, and the last the remaining ones
    centres    block -> the mean of its unit vectors
    radii      block -> the largest distance of one of these from the mean
    """

    positions: Rows
    centres: Floats
    radii: Floats

    def bounds(self, vector: tuple[float, float, float]) -> Floats:
        """Return for each block the least distance that one of its points can have from a unit vector."""
        bounds: Floats = np.sqrt(((self.centres - vector) ** 2).sum(axis=1)) - self.radii - _SLACK
        return bounds

    def positions_in(self, blocks: NDArray[np.intp]) -> Rows:
        """Return the positions of the points in some blocks."""
        along = (_SIZE * blocks[:, np.newaxis] + np.arange(_SIZE)).ravel()
        return self.positions.take(along[along < len(self.positions)])


def build_blocks(positions: Rows, points: Floats) -> Blocks:
    """Return the blocks of unit vectors by position, given the positions along the Z-order."""
    spend(_BUILDING * len(positions))
    count = -(-len(positions) // _SIZE)
    centres, radii = np.empty((count, 3)), np.empty(count)
    for first in range(0, count, _BUILT_AT_ONCE):
        some = positions[_SIZE * first : _SIZE * (first + _BUILT_AT_ONCE)]
        vectors = points.take(some, axis=0)
        starts = np.arange(0, len(vectors), _SIZE)
        sizes = np.diff(starts, append=len(vectors))
        built = slice(first, first + len(starts))
        centres[built] = np.add.reduceat(vectors, starts, axis=0) / sizes[:, np.newaxis]
        squares = ((vectors - centres[built].repeat(sizes, axis=0)) ** 2).sum(axis=1)
        radii[built] = np.sqrt(np.maximum.reduceat(squares, starts))
    return Blocks(positions, centres, radii)


_BEFORE_DIGITS: Final = 2  # characters: sign and scale
_NEGATIVE, _ZERO = b"00"
_COMPLEMENT: Final = np.frombuffer(COMPLEMENT, np.uint8)
# A float has each whole number of so many digits, and each of these powers of ten: a quotient or product of the two is
# rounded once, as IEEE 754 requires, to the number nearest to the decimal.
_MOST_DIGITS: Final = 15
_POWERS: Final = np.array([10**exponent for exponent in range(23)], float)


def decimal_numbers(keys: StringArray) -> Floats:
    """Return the number nearest to the decimal of each key."""
    characters, offsets = np.frombuffer(keys.data, np.uint8), keys.offsets.astype(np.int64)
    starts, last = offsets[:-1], len(characters) - 1
    negative = characters[starts] == _NEGATIVE
    counts = np.diff(offsets) - _BEFORE_DIGITS - negative
    scales = characters[np.minimum(starts + 1, last)]
    exponents = np.where(negative, _COMPLEMENT[scales], scales).astype(np.int64) - POINT_SCALE - counts
    whole = np.zeros(len(keys), np.int64)
    for position in range(min(counts.max(initial=0), _MOST_DIGITS)):
        digits = characters[np.minimum(starts + _BEFORE_DIGITS + position, last)]
        digits = np.where(negative, _COMPLEMENT[digits], digits) - _ZERO
        whole = np.where(position < counts, whole * 10 + digits, whole)
    divisors, factors = (_POWERS.take(np.maximum(each, 0), mode="clip") for each in (-exponents, exponents))
    numbers: Floats = np.where(negative, -whole, whole) / divisors * factors
    others = (counts < 1) | (counts > _MOST_DIGITS) | (abs(exponents) >= len(_POWERS))
    numbers[others] = [key_number(keys[index]) for index in others.nonzero()[0].tolist()]
    return numbers


DIMENSIONS: Final = 3
_MANY: Final = 10_000  # vectors
_CLOSE: Final = 1e-12  # far above the rounding errors of cosines
# The number of points whose unit vector is cached.
_POINTS: Final = 64


class Locations(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The points of the rows of a table. A row is located if both coordinates are decimals in range.

    z_order     another order of the rows, for maps
    order       all rows: the located ones by cell, ties by row; then the others, ascending
    positions   row -> its position in `order`
    cells       position -> cell of the grid; this and the arrays below only of located rows
    latitudes   position -> latitude in degrees
    longitudes  position -> longitude in degrees
    vectors     position -> its three coordinates on the unit sphere, one after the other
    """

    z_order: ZOrder
    order: Rows
    positions: Rows
    cells: GridCells
    latitudes: Floats
    longitudes: Floats
    vectors: Floats

    @property
    def count(self) -> int:
        """The number of located rows."""
        return len(self.cells)

    def squared_chords(self, point: Coordinates, positions: NDArray[np.integer]) -> Floats:
        """Return the squared chords from a point to those at some positions: they order by distance."""
        return squared_chords(point, self.points.take(positions, axis=0))

    def distances(self, point: Coordinates, rows: Rows) -> list[float | None]:
        """Return the distance of each row from a point in metres, to one decimal; None if it is not located."""
        positions = self.positions.take(rows)
        located = positions < self.count
        chords = squared_chords(point, self.points.take(positions[located], axis=0))
        metres: list[float | None] = rounded_metres(chords).tolist()
        if len(metres) == len(rows):
            return metres
        rest = iter(metres)
        return [next(rest) if each else None for each in located.tolist()]

    @cached_property
    def blocks(self) -> Blocks:
        """The points in blocks, which take tens of milliseconds of a million rows; most requests need none of them."""
        return build_blocks(self.positions.take(self.z_order.order[: self.count]), self.points)

    def are_all_in(self, box: Box) -> bool:
        """Return whether a box that does not cross the antimeridian has all located rows."""
        edges = self._bounds
        return box.west <= edges.west <= edges.east <= box.east and box.south <= edges.south <= edges.north <= box.north

    @cached_property
    def _bounds(self) -> Box:
        """The least box with all located rows."""
        spend(self.count // LOOKED_UP)
        axes = ((self.longitudes, MAX_LONGITUDE), (self.latitudes, MAX_LATITUDE))
        west, south = (float(degrees.min(initial=most)) for degrees, most in axes)
        east, north = (float(degrees.max(initial=-most)) for degrees, most in axes)
        return Box(west, south, east, north)

    @cached_property
    def points(self) -> Floats:
        """The unit vector at each position."""
        return self.vectors.reshape(-1, DIMENSIONS)


def squared_chords(point: Coordinates, vectors: Floats) -> Floats:
    """Return the squares of the chords from a point to unit vectors.

    Coordinate by coordinate, which is several times as fast as by vector, and the same on every processor.
    """
    x, y, z = map(np.subtract, vectors.T, vector_of(point))
    x *= x  # fresh memory of many takes longer than to compute
    y *= y
    z *= z
    x += y
    x += z
    chords: Floats = x
    return chords


def are_within(point: Coordinates, limit: float, vectors: Floats) -> NDArray[np.bool_]:
    """Return for each unit vector whether its squared chord to a point is at most a limit.

    Of many, the cosine decides unless it is close, which takes a third of the time.
    """
    inside: NDArray[np.bool_]
    if len(vectors) <= _MANY:
        inside = squared_chords(point, vectors) <= limit
        return inside
    cosines, least = vectors @ np.array(vector_of(point)), 1 - limit / 2
    inside = cosines > least + _CLOSE
    close = (inside != (cosines >= least - _CLOSE)).nonzero()[0]
    inside[close] = squared_chords(point, vectors[close]) <= limit
    return inside


@lru_cache(_POINTS)
def vector_of(point: Coordinates) -> tuple[float, float, float]:
    """Return the unit vector of a point; a request needs it several times."""
    return unit_vector(*point)


def build_locations(latitude: Column, longitude: Column) -> Locations:
    """Return the locations of the rows of two columns of decimals, which must have values."""
    latitudes, longitudes = _degrees(latitude, MAX_LATITUDE), _degrees(longitude, MAX_LONGITUDE)
    located = ~(np.isnan(latitudes) | np.isnan(longitudes))
    rows, others = (np.flatnonzero(each).astype(np.int32) for each in (located, ~located))
    z_order = build_z_order(rows, others, latitudes[rows], longitudes[rows])
    ascending, rows = sort_rows(grid_cells(latitudes[rows], longitudes[rows]), rows)
    order = np.concatenate((rows, others))
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order), dtype=np.int32)
    latitudes, longitudes = latitudes[rows], longitudes[rows]
    vectors = np.column_stack(unit_vector(latitudes, longitudes)).ravel()
    return Locations(z_order, order, positions, ascending.astype(np.uint32), latitudes, longitudes, vectors)


def _degrees(column: Column, largest: int) -> Floats:
    """Return the coordinate of each row in degrees, NaN if it is not a decimal or out of range."""
    by_code: Floats = np.full(column.null_code + 1, np.nan)
    values = column.values or StringArray.of(())
    first = bisect_left(values, number_key(f"-{largest}").encode())
    end = bisect_right(values, number_key(f"{largest}").encode())
    by_code[first:end] = decimal_numbers(values.part(first, end))
    by_code += 0.0  # a negative decimal next to zero is zero without a sign
    return by_code.take(column.codes)

"""Where the rows of a table are: which are within a distance or in a box, and how far away."""

from bisect import bisect_left, bisect_right
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import Column, Rows
from service.engine.grid import Cells, Places, cells_of, sort_by_cell, spans
from service.engine.sphere import Box, Floats, Point, box_around, metres, squared_chord, unit_vector
from service.engine.string_array import StringArray
from service.engine.z_order import ZOrder, build_z_order
from service.model.kinds import key_number, number_key
from service.model.place import MAX_LATITUDE, MAX_LONGITUDE

DIMENSIONS: Final = 3


class Locations(msgspec.Struct, frozen=True, eq=False):
    """The points of the rows of a table. A row is located if both coordinates are decimals in range.

    z_order     another order of the rows, for maps
    order       all rows: the located ones by cell, ties by row; then the others, ascending
    places      row -> its place in `order`
    cells       place -> cell of the grid; this and the arrays below only of located rows
    latitudes   place -> latitude in degrees
    longitudes  place -> longitude in degrees
    vectors     place -> its three coordinates on the unit sphere, one after the other
    """

    z_order: ZOrder
    order: Rows
    places: Rows
    cells: Cells
    latitudes: Floats
    longitudes: Floats
    vectors: Floats

    @property
    def count(self) -> int:
        """The number of located rows."""
        return len(self.cells)

    def within(self, point: Point, radius: float) -> Rows:
        """Return the rows at most `radius` metres from a point, ascending."""
        found, chords = self.candidates(point, radius)
        return np.sort(found[chords <= squared_chord(radius)])

    def candidates(self, point: Point, radius: float) -> tuple[Rows, Floats]:
        """Return all rows within a distance and some others, in any order, and their squared chords to the point."""
        near = spans(self.cells, box_around(point, radius))
        return near.take(self.order), squared_chords(point, near.take(self._vectors))

    def inside(self, box: Box) -> Rows:
        """Return the rows in a box, ascending; its edges belong to it."""
        west, south, east, north = box
        near = spans(self.cells, box)
        latitudes, longitudes = near.take(self.latitudes), near.take(self.longitudes)
        after, before = longitudes >= west, longitudes <= east
        between = after & before if west <= east else after | before
        return np.sort(near.take(self.order)[between & (latitudes >= south) & (latitudes <= north)])

    def is_located(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether it is located."""
        return self.places[rows] < self.count

    def squared_chords(self, point: Point, places: Places | Rows | slice) -> Floats:
        """Return the squared chords from a point to those at some places: they order by distance."""
        vectors = self._vectors[places] if isinstance(places, slice) else self._vectors.take(places, axis=0)
        return squared_chords(point, vectors)

    def nearness(self, point: Point) -> NDArray[np.float32]:
        """Return for each place a number that ascends with the distance from a point, in single precision."""
        cosines: Floats = self._vectors @ -np.array(unit_vector(*point))
        return cosines.astype(np.float32)

    def distances(self, point: Point, rows: Rows) -> list[float | None]:
        """Return the distance of each row from a point in metres, to one decimal; None if it is not located."""
        places = self.places[rows]
        located = places < self.count
        found: list[float | None] = metres(self.squared_chords(point, places[located])).round(1).tolist()
        if len(found) == len(rows):
            return found
        rest = iter(found)
        return [next(rest) if each else None for each in located.tolist()]

    @property
    def _vectors(self) -> Floats:
        return self.vectors.reshape(-1, DIMENSIONS)


def squared_chords(point: Point, vectors: Floats) -> Floats:
    """Return the squares of the chords from a point to unit vectors."""
    differences = vectors - np.array(unit_vector(*point))
    chords: Floats = np.einsum("ij,ij->i", differences, differences)
    return chords


def build_locations(latitude: Column, longitude: Column) -> Locations:
    """Return the locations of the rows of two columns of decimals, which must have values."""
    latitudes, longitudes = _degrees(latitude, MAX_LATITUDE), _degrees(longitude, MAX_LONGITUDE)
    located = ~(np.isnan(latitudes) | np.isnan(longitudes))
    rows, others = (np.flatnonzero(each).astype(np.int32) for each in (located, ~located))
    z_order = build_z_order(rows, others, latitudes[rows], longitudes[rows])
    cells, rows = sort_by_cell(cells_of(latitudes[rows], longitudes[rows]), rows)
    order = np.concatenate((rows, others))
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    latitudes, longitudes = latitudes[rows], longitudes[rows]
    vectors = np.column_stack(unit_vector(latitudes, longitudes)).ravel()
    return Locations(z_order, order, places, cells, latitudes, longitudes, vectors)


def _degrees(column: Column, largest: int) -> Floats:
    """Return the angle of each row in degrees, NaN if it is no decimal or too large."""
    by_code: Floats = np.full(column.null_code + 1, np.nan)
    values = column.values or StringArray.of(())
    first = bisect_left(values, number_key(f"-{largest}").encode())
    end = bisect_right(values, number_key(f"{largest}").encode())
    by_code[first:end] = list(map(key_number, values.strings(first, end)))
    return by_code.take(column.codes)

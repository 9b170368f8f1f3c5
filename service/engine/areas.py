"""Areas: circles and boxes as conditions on the rows of a table."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, pack
from service.engine.column import Rows
from service.engine.grid import Spans, spans
from service.engine.locations import Locations, are_within
from service.engine.sphere import box_around, squared_chord
from service.model.place import Box, Circle

Mask: TypeAlias = NDArray[np.bool_]
# Returns the items of an array at some places.
Take: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]


class Area(msgspec.Struct, frozen=True, eq=False):
    """A part of the earth as a condition on rows.

    nearby    the places of all rows in it, and of others
    count     the number of rows nearby, or fewer, but at least that of the rows inside
    contains  returns for each of some places whether it is in the area, given what takes items there
    """

    locations: Locations
    nearby: Spans
    count: int
    contains: Callable[[Take], Mask]

    def rows(self) -> Rows:
        """Return the rows inside, ascending."""
        return np.sort(self._found())

    def filter(self, rows: Rows) -> Rows:
        """Return the given rows that are inside."""
        places = self.locations.places.take(rows)
        located = places < self.locations.count
        rows, places = rows[located], places[located]
        return rows[self.contains(lambda array: array.take(places, axis=0))]

    def mask(self) -> Mask:
        """Return for each row whether it is inside."""
        mask = np.zeros(len(self.locations.order), np.bool_)
        mask[self._found()] = True
        return mask

    def bitmap_by_place(self) -> Bitmap:
        """Return the bitmap of the places of the rows inside."""
        mask = np.zeros(len(self.locations.order), np.bool_)
        self.nearby.put(mask, self.contains(self.nearby.take))
        return pack(mask)

    def _found(self) -> Rows:
        return self.nearby.take(self.locations.order)[self.contains(self.nearby.take)]


def circle_area(locations: Locations, circle: Circle) -> Area:
    """Return a circle as a condition; its edge belongs to it."""
    limit = squared_chord(circle.radius)

    def contains(take: Take) -> Mask:
        return are_within(circle.centre, take(locations.points), limit)

    near = spans(locations.cells, box_around(circle.centre, circle.radius))
    return Area(locations, near.joined, near.count, contains)


def box_area(locations: Locations, box: Box) -> Area:
    """Return a box as a condition; its edges belong to it."""
    west, south, east, north = box

    def contains(take: Take) -> Mask:
        latitudes, longitudes = take(locations.latitudes), take(locations.longitudes)
        after, before = longitudes >= west, longitudes <= east
        inside: Mask = (after & before if west <= east else after | before) & (latitudes >= south)
        return inside & (latitudes <= north)

    near = spans(locations.cells, box)
    return Area(locations, near.joined, near.count, contains)

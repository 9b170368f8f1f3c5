"""Areas: circles and boxes as conditions on the rows of a table."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import Bitmap, pack
from service.engine.geography.grid import Positions, Spans, are_in_box, box_around, spans, squared_chord
from service.engine.geography.locations import Locations, are_within
from service.model.coordinates import Box, Circle

Mask: TypeAlias = NDArray[np.bool_]


class Area(msgspec.Struct, frozen=True, eq=False):
    """A part of the earth as a condition on rows. To test one takes twice as long as for any other condition.

    near      the positions of all rows inside, and of others nearby
    contains  returns for each of some positions whether it is in the area
    """

    locations: Locations
    near: Spans
    contains: Callable[[Positions | Rows], Mask]
    count: int

    def rows(self) -> Rows:
        """Return the rows inside, ascending."""
        rows = self._rows()
        rows.sort()
        return rows

    def matches(self, rows: Rows) -> Mask:
        """Return for each of some rows whether it is inside."""
        spend(len(rows))
        positions = self.locations.positions.take(rows)
        inside = positions < self.locations.count
        inside[inside] = self.contains(positions[inside])
        return inside

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the rows inside."""
        spend(len(self.locations.order))
        mask = np.zeros(len(self.locations.order), np.bool_)
        mask[self._rows()] = True
        return pack(mask)

    def _rows(self) -> Rows:
        """Return the rows inside, by position."""
        spend(self.count)
        positions = self.near.positions()
        return self.locations.order.take(positions[self.contains(positions)])


def circle_area(locations: Locations, circle: Circle) -> Area:
    """Return a circle as a condition; its edge belongs to it."""
    limit, near = squared_chord(circle.radius), spans(locations.cells, box_around(circle.centre, circle.radius))

    def contains(positions: Positions | Rows) -> Mask:
        return are_within(circle.centre, locations.points.take(positions, axis=0), limit)

    return Area(locations, near, contains, near.count)


def box_area(locations: Locations, box: Box) -> Area:
    """Return a box as a condition; its edges belong to it."""
    near = spans(locations.cells, box)

    def contains(positions: Positions | Rows) -> Mask:
        return are_in_box(box, locations.latitudes.take(positions), locations.longitudes.take(positions))

    return Area(locations, near, contains, near.count)

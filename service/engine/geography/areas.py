"""Areas: circles and boxes as conditions on the rows of a table."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import Bitmap, pack
from service.engine.geography.grid import (
    Floats,
    Positions,
    Spans,
    are_in_box,
    box_around,
    spans,
    squared_chord,
    surely_inside,
)
from service.engine.geography.locations import Locations, are_within
from service.model.coordinates import Box, Circle

Mask: TypeAlias = NDArray[np.bool_]
# Testing this many rows next to each other takes as long as to take and test one.
_SLICED: Final = 2
_MANY: Final = 20_000  # rows that are tested in the time of finding out which of them are surely inside


class Area(msgspec.Struct, frozen=True, eq=False):
    """A part of the earth as a condition on rows. To test one takes twice as long as for any other condition.

    near         the positions of all rows inside, but for those surely inside, and of others nearby
    inside       the positions of rows surely inside, which need no test
    coordinates  arrays by position
    contains     returns whether points are in the area, given these
    """

    locations: Locations
    near: Spans
    coordinates: tuple[Floats, ...]
    contains: Callable[..., Mask]
    count: int
    inside: Spans | None = None

    def rows(self) -> Rows:
        """Return the rows inside, ascending."""
        rows = self.locations.order.take(self.positions())
        rows.sort()
        return rows

    def matches(self, rows: Rows) -> Mask:
        """Return for each of some rows whether it is inside."""
        spend(len(rows))
        positions = self.locations.positions.take(rows)
        inside = positions < self.locations.count
        inside[inside] = self.contain(positions[inside])
        return inside

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the rows inside."""
        spend(len(self.locations.order))
        mask = np.zeros(len(self.locations.order), np.bool_)
        mask[self.locations.order.take(self.positions())] = True
        return pack(mask)

    def positions(self) -> Positions:
        """Return the positions of the rows inside."""
        spend(self.count)
        start, stop = int(self.near.starts.min()), int(self.near.stops.max())
        if self.inside is None and stop - start <= _SLICED * self.count:
            return self.contains(*[each[start:stop] for each in self.coordinates]).nonzero()[0] + start
        near = self.near.positions()
        tested = near[self.contain(near)]
        return tested if self.inside is None else np.concatenate((self.inside.positions(), tested))

    def contain(self, positions: Positions | Rows) -> Mask:
        """Return for each of some positions whether its row is inside."""
        return self.contains(*[each.take(positions, axis=0) for each in self.coordinates])


def circle_area(locations: Locations, circle: Circle) -> Area:
    """Return a circle as a condition; its edge belongs to it."""
    box = box_around(circle.centre, circle.radius)
    near, inside = spans(locations.cells, box), None
    count = near.count
    if count > _MANY and box.west <= box.east:
        inside = surely_inside(locations.cells, circle, box)
        near = near.without(inside)
    contains = partial(are_within, circle.centre, squared_chord(circle.radius))
    return Area(locations, near, (locations.points,), contains, count, inside)


def box_area(locations: Locations, box: Box) -> Area:
    """Return a box as a condition; its edges belong to it."""
    near = spans(locations.cells, box)
    return Area(locations, near, (locations.latitudes, locations.longitudes), partial(are_in_box, box), near.count)

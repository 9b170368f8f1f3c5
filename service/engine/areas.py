"""Areas: circles and boxes as conditions on the rows of a table."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import Rows
from service.engine.cover import Cover, cover_box, cover_circle
from service.engine.grid import NO_SPANS, Places, spans
from service.engine.locations import Locations, are_within
from service.engine.long_work import announce
from service.engine.sphere import box_around, squared_chord
from service.model.coordinates import Box, Circle

Mask: TypeAlias = NDArray[np.bool_]
# Returns the items of an array at some places.
Take: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]
# Testing this many places takes as long as separating those inside from those at the border.
_MANY: Final = 20_000


class Area(msgspec.Struct, frozen=True, eq=False):
    """A part of the earth as a condition on rows. To test one takes twice as long as for any other condition.

    count     the number of rows nearby, or fewer, but at least that of the rows inside
    cover     returns the places of all rows inside, and of others
    contains  returns for each of some places whether it is in the area, given what takes items there
    """

    locations: Locations
    count: int
    cover: Callable[[], Cover]
    contains: Callable[[Take], Mask]

    def rows(self) -> Rows:
        """Return the rows inside, ascending."""
        return np.sort(self.locations.order.take(self.places()))

    def places(self) -> Places:
        """Return the places of the rows inside."""
        announce(self.count)
        cover = self.cover()
        found = cover.border.places()[self.contains(cover.border.take)]
        return np.concatenate((cover.inside.places(), found)) if len(cover.inside.starts) else found

    def matches(self, rows: Rows) -> Mask:
        """Return for each of some rows whether it is inside."""
        announce(len(rows))
        places = self.locations.places.take(rows)
        located = places < self.locations.count
        there = places[located]
        located[located] = self.contains(lambda array: array.take(there, axis=0))
        return located

    def mask(self) -> Mask:
        """Return for each row whether it is inside."""
        return self.mask_by_place().take(self.locations.places)

    def mask_by_place(self) -> Mask:
        """Return for each place whether its row is inside."""
        mask, cover = np.zeros(len(self.locations.order), np.bool_), self.cover()
        cover.inside.fill(mask)
        cover.border.put(mask, self.contains(cover.border.take))
        return mask


def circle_area(locations: Locations, circle: Circle) -> Area:
    """Return a circle as a condition; its edge belongs to it."""
    limit = squared_chord(circle.radius)

    def contains(take: Take) -> Mask:
        return are_within(circle.centre, take(locations.points), limit)

    return _area(locations, box_around(circle.centre, circle.radius), partial(cover_circle, circle=circle), contains)


def box_area(locations: Locations, box: Box) -> Area:
    """Return a box as a condition; its edges belong to it."""
    west, south, east, north = box

    def contains(take: Take) -> Mask:
        latitudes, longitudes = take(locations.latitudes), take(locations.longitudes)
        after, before = longitudes >= west, longitudes <= east
        inside: Mask = (after & before if west <= east else after | before) & (latitudes >= south)
        return inside & (latitudes <= north)

    return _area(locations, box, partial(cover_box, box=box), contains)


def _area(
    locations: Locations, box: Box, cover: Callable[[NDArray[np.uint32]], Cover], contains: Callable[[Take], Mask]
) -> Area:
    near = spans(locations.cells, box).filled
    if near.count <= _MANY:
        return Area(locations, near.count, lambda: Cover(NO_SPANS, near.joined), contains)
    return Area(locations, near.count, lambda: cover(locations.cells), contains)

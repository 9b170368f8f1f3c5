"""Areas: circles and boxes as conditions on the rows of a table."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.geography.grid import (
    BAND_HEIGHT,
    EARTH_RADIUS,
    NO_SPANS,
    Bands,
    Floats,
    GridCells,
    Positions,
    Spans,
    are_in_box,
    bands_between,
    box_around,
    join,
    middles,
    positions_between,
    spans,
    squared_chord,
)
from service.engine.geography.locations import Locations, are_within
from service.model.coordinates import Box, Circle
from service.model.kinds import MAX_LONGITUDE

_MARGIN: Final = 1e-5  # degrees; far above the rounding errors of this module
# No point of a band is farther from the one in its middle, on the same meridian.
_REACH: Final = math.radians(BAND_HEIGHT / 2 + _MARGIN)
_ALMOST_ALL_AROUND: Final = 179.99  # degrees to either side


class Cover(msgspec.Struct, frozen=True, eq=False):
    """Positions of an area: `inside` are those of points in it, `border` of its other points and some others."""

    inside: Spans
    border: Spans


def cover_box(cells: GridCells, box: Box) -> Cover:
    """Return the positions of a box. Its border is the cells that its edges are in."""
    west, south, east, north = box
    bands = bands_between(south, north)[1:-1]
    if west <= east:
        inside = positions_between(cells, bands, _each(bands, west), _each(bands, east), strictly=True)
    else:
        one = positions_between(cells, bands, _each(bands, west), _each(bands, MAX_LONGITUDE), strictly=True)
        other = positions_between(cells, bands, _each(bands, -MAX_LONGITUDE), _each(bands, east), strictly=True)
        inside = join(one, other)
    return Cover(inside, spans(cells, box).without(inside))


def _each(bands: Bands, longitude: float) -> Floats:
    return np.full(len(bands), float(longitude))


def cover_circle(cells: GridCells, circle: Circle) -> Cover:
    """Return the positions of a circle.

    In each band, a point is inside if the one in the middle of the band, on the same meridian, is nearer to the centre
    than the radius by half the height of the band, and outside if it is as much farther away.
    """
    (latitude, longitude), radius = circle
    box, angle = box_around(circle.centre, radius), radius / EARTH_RADIUS
    bands = bands_between(box.south, box.north)
    widest = _half_widths(latitude, bands, angle + _REACH)
    widest[widest > _ALMOST_ALL_AROUND] = MAX_LONGITUDE
    inside = _around(cells, bands, longitude, _half_widths(latitude, bands, angle - _REACH), strictly=True)
    return Cover(inside, _around(cells, bands, longitude, widest, strictly=False).without(inside))


def _half_widths(latitude: float, bands: Bands, angle: float) -> Floats:
    """Return how many degrees of longitude from a point the middle of each band is within an angle, in radians."""
    centre, middle = math.radians(latitude), np.radians(middles(bands))
    excess = math.cos(min(max(angle, 0), math.pi)) - math.sin(centre) * np.sin(middle)
    widths: Floats = np.degrees(np.arccos(np.clip(excess / (math.cos(centre) * np.cos(middle)), -1, 1)))
    return widths


def _around(cells: GridCells, bands: Bands, longitude: float, widths: Floats, *, strictly: bool) -> Spans:
    """Return the positions in each band that are at most `widths` degrees to the west and to the east."""
    turn, is_whole = 2 * MAX_LONGITUDE, widths >= MAX_LONGITUDE
    west = np.where(is_whole, -MAX_LONGITUDE, longitude - widths)
    east = np.where(is_whole, MAX_LONGITUDE, longitude + widths)
    clipped = positions_between(
        cells, bands, np.maximum(west, -MAX_LONGITUDE), np.minimum(east, MAX_LONGITUDE), strictly=strictly
    )
    crosses = (west < -MAX_LONGITUDE) | (east > MAX_LONGITUDE)
    west, east, bands = west[crosses], east[crosses], bands[crosses]
    beyond = positions_between(
        cells,
        bands,
        np.where(west < -MAX_LONGITUDE, west + turn, -MAX_LONGITUDE),
        np.where(west < -MAX_LONGITUDE, MAX_LONGITUDE, east - turn),
        strictly=strictly,
    )
    return join(clipped, beyond)


Mask: TypeAlias = NDArray[np.bool_]
# Returns the items of an array at some positions.
Take: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]
# Testing this many positions takes as long as separating those inside from those at the border.
_MANY: Final = 20_000


class Area(msgspec.Struct, frozen=True, eq=False):
    """A part of the earth as a condition on rows. To test one takes twice as long as for any other condition.

    count     the number of rows nearby, or fewer, but at least that of the rows inside
    cover     returns the positions of all rows inside, and of others
    contains  returns for each of some positions whether it is in the area, given what takes items there
    """

    locations: Locations
    count: int
    cover: Callable[[], Cover]
    contains: Callable[[Take], Mask]

    def rows(self) -> Rows:
        """Return the rows inside, ascending."""
        return np.sort(self.locations.order.take(self.positions()))

    def positions(self) -> Positions:
        """Return the positions of the rows inside."""
        spend(self.count)
        cover = self.cover()
        on_border = cover.border.positions()[self.contains(cover.border.take)]
        return np.concatenate((cover.inside.positions(), on_border)) if len(cover.inside.starts) else on_border

    def matches(self, rows: Rows) -> Mask:
        """Return for each of some rows whether it is inside."""
        spend(len(rows))
        positions = self.locations.positions.take(rows)
        inside = positions < self.locations.count
        located = positions[inside]
        inside[inside] = self.contains(lambda array: array.take(located, axis=0))
        return inside

    def mask(self) -> Mask:
        """Return for each row whether it is inside."""
        return self.mask_by_position().take(self.locations.positions)

    def mask_by_position(self) -> Mask:
        """Return for each position whether its row is inside."""
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

    def contains(take: Take) -> Mask:
        return are_in_box(box, take(locations.latitudes), take(locations.longitudes))

    return _area(locations, box, partial(cover_box, box=box), contains)


def _area(
    locations: Locations, box: Box, cover: Callable[[NDArray[np.uint32]], Cover], contains: Callable[[Take], Mask]
) -> Area:
    near = spans(locations.cells, box).filled
    if near.count <= _MANY:
        return Area(locations, near.count, lambda: Cover(NO_SPANS, near.joined), contains)
    return Area(locations, near.count, lambda: cover(locations.cells), contains)

"""The places of an area: of the points that are certainly inside, and of those at its border, which must be tested."""

import math
from typing import Final

import msgspec
import numpy as np

from service.engine.grid import (
    BAND_HEIGHT,
    Bands,
    GridCells,
    Spans,
    bands_between,
    join,
    middles,
    places_between,
    spans,
)
from service.engine.sphere import EARTH_RADIUS, Floats, box_around
from service.model.coordinates import Box, Circle
from service.model.degrees import MAX_LONGITUDE

_MARGIN: Final = 1e-5  # degrees; far above the rounding errors of this module
# No point of a band is farther from the one in its middle, on the same meridian.
_REACH: Final = math.radians(BAND_HEIGHT / 2 + _MARGIN)
_ALMOST_ALL_AROUND: Final = 179.99  # degrees to either side


class Cover(msgspec.Struct, frozen=True, eq=False):
    """Places of an area: `inside` are those of points in it, `border` those of all its other points, and of others."""

    inside: Spans
    border: Spans


def cover_box(cells: GridCells, box: Box) -> Cover:
    """Return the places of a box. Its border is the cells that its edges are in."""
    west, south, east, north = box
    bands = bands_between(south, north)[1:-1]
    if west <= east:
        inside = places_between(cells, bands, _each(bands, west), _each(bands, east), strictly=True)
    else:
        one = places_between(cells, bands, _each(bands, west), _each(bands, MAX_LONGITUDE), strictly=True)
        other = places_between(cells, bands, _each(bands, -MAX_LONGITUDE), _each(bands, east), strictly=True)
        inside = join(one, other)
    return Cover(inside, spans(cells, box).without(inside))


def _each(bands: Bands, longitude: float) -> Floats:
    return np.full(len(bands), float(longitude))


def cover_circle(cells: GridCells, circle: Circle) -> Cover:
    """Return the places of a circle.

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
    """Return the places in each band that are at most `widths` degrees to the west and to the east."""
    turn, is_whole = 2 * MAX_LONGITUDE, widths >= MAX_LONGITUDE
    west = np.where(is_whole, -MAX_LONGITUDE, longitude - widths)
    east = np.where(is_whole, MAX_LONGITUDE, longitude + widths)
    clipped = places_between(
        cells, bands, np.maximum(west, -MAX_LONGITUDE), np.minimum(east, MAX_LONGITUDE), strictly=strictly
    )
    crosses = (west < -MAX_LONGITUDE) | (east > MAX_LONGITUDE)
    west, east, bands = west[crosses], east[crosses], bands[crosses]
    beyond = places_between(
        cells,
        bands,
        np.where(west < -MAX_LONGITUDE, west + turn, -MAX_LONGITUDE),
        np.where(west < -MAX_LONGITUDE, MAX_LONGITUDE, east - turn),
        strictly=strictly,
    )
    return join(clipped, beyond)

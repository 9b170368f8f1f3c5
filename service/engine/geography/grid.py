"""A grid over the earth: bands of latitude, whose points are sorted by longitude."""

import math
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import expand
from service.model.coordinates import Box, Circle, Coordinates
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE

Floats = NDArray[np.float64]
_Degrees = TypeVar("_Degrees", float, Floats)
_Number = TypeVar("_Number", np.float64, np.int32)

EARTH_RADIUS: Final = 6_371_008.8  # metres
_QUARTER: Final = 90  # degrees
_HALF: Final = 2 * _QUARTER
# The coefficients of the series of sine and cosine, the highest powers first.
_SERIES: Final = [
    ((-1) ** term / math.factorial(2 * term + 1), (-1) ** term / math.factorial(2 * term)) for term in range(9, -1, -1)
]
_MARGIN: Final = 1e-5  # degrees; far above the rounding errors of the box around a circle


def unit_vector(latitude: _Degrees, longitude: _Degrees) -> tuple[_Degrees, _Degrees, _Degrees]:
    """Return the coordinates of points on the unit sphere.

    Both spellings of the antimeridian, and all longitudes of a pole, give the same vector.
    """
    (sine, cosine), (east, ahead) = sine_cosine(latitude), sine_cosine(longitude)
    return cosine * ahead, cosine * east, sine


def sine_cosine(degrees: _Degrees) -> tuple[_Degrees, _Degrees]:
    """Return sine and cosine of angles from -180 to 180 degrees; those of multiples of 90 are exact.

    Arithmetic alone, whose results are the same on every processor, unlike those of libraries: the same data must give
    the same baked file.
    """
    quarters = (degrees + _QUARTER / 2) // _QUARTER
    angle = (degrees - quarters * _QUARTER) * (math.pi / _HALF)
    square = angle * angle
    sine = cosine = 0 * square
    for of_sine, of_cosine in _SERIES:
        sine, cosine = sine * square + of_sine, cosine * square + of_cosine
    sine = angle * sine
    turned_sine, turned_cosine = quarters * (2 - abs(quarters)), 1 - abs(quarters)  # exact: -1, 0 or 1
    return sine * turned_cosine + cosine * turned_sine, cosine * turned_cosine - sine * turned_sine


def squared_chord(radius: float) -> float:
    """Return the square of the chord that spans a distance in metres, infinity if no two points are farther apart."""
    angle = radius / EARTH_RADIUS
    return math.inf if angle >= math.pi else (2 * math.sin(angle / 2)) ** 2


def rounded_metres(squared_chords: Floats) -> Floats:
    """Return the distances that chords span, along the surface, to one decimal."""
    metres: Floats = 2 * EARTH_RADIUS * np.arcsin(np.minimum(np.sqrt(squared_chords) / 2, 1))
    return metres.round(1)


def box_around(point: Coordinates, radius: float) -> Box:
    """Return a box that contains all points within a distance in metres, and few others."""
    latitude, longitude = point
    angle = radius / EARTH_RADIUS
    height = math.degrees(angle) + _MARGIN
    south, north = max(latitude - height, -_QUARTER), min(latitude + height, _QUARTER)
    if south == -_QUARTER or north == _QUARTER:  # a pole is inside, or as good as
        return Box(-_HALF, south, _HALF, north)
    width = math.degrees(math.asin(math.sin(angle) / math.cos(math.radians(latitude)))) + _MARGIN
    west, east = longitude - width, longitude + width
    return Box(west + 2 * _HALF if west < -_HALF else west, south, east - 2 * _HALF if east > _HALF else east, north)


def are_in_box(box: Box, latitudes: NDArray[_Number], longitudes: NDArray[_Number]) -> NDArray[np.bool_]:
    """Return for each point whether it is in a box, both in the same units; none is whose coordinates are NaN."""
    west, south, east, north = box
    after, before = longitudes >= west, longitudes <= east
    inside: NDArray[np.bool_] = (after & before if west <= east else after | before) & (latitudes >= south)
    return inside & (latitudes <= north)


GridCells = NDArray[np.uint32]
Positions = NDArray[np.intp]

# A cell is a band of a tenth of a degree and a column of it, in one number of 32 bits: bands first.
BAND_HEIGHT: Final = 0.1
_BANDS: Final = 1800
_COLUMN_BITS: Final = 21
_COLUMNS: Final = 1 << _COLUMN_BITS
_BANDS_PER_DEGREE: Final = _BANDS / (2 * MAX_LATITUDE)
_COLUMNS_PER_DEGREE: Final = _COLUMNS / (2 * MAX_LONGITUDE)


def grid_cells(latitudes: Floats, longitudes: Floats) -> GridCells:
    """Return the cell of each point."""
    bands = np.minimum((latitudes + MAX_LATITUDE) * _BANDS_PER_DEGREE, _BANDS - 1).astype(np.uint32)
    return bands << np.uint32(_COLUMN_BITS) | _columns(longitudes)


def _columns(longitudes: Floats) -> GridCells:
    return np.minimum((longitudes + MAX_LONGITUDE) * _COLUMNS_PER_DEGREE, _COLUMNS - 1).astype(np.uint32)


def cell_of(point: Coordinates) -> int:
    """Return the cell of a point."""
    return _band(point[0]) << _COLUMN_BITS | _column(point[1])


def _band(latitude: float) -> int:
    return min(int((latitude + MAX_LATITUDE) * _BANDS_PER_DEGREE), _BANDS - 1)


def _column(longitude: float) -> int:
    return min(int((longitude + MAX_LONGITUDE) * _COLUMNS_PER_DEGREE), _COLUMNS - 1)


class Spans(msgspec.Struct, frozen=True, eq=False):
    """Runs of consecutive positions: where each begins and ends."""

    starts: Positions
    stops: Positions

    @property
    def count(self) -> int:
        """The number of positions."""
        return int(np.add.reduce(self.stops - self.starts))

    def without(self, inner: "Spans") -> "Spans":
        """Return what is before and after other runs, each inside the run of the same number."""
        return Spans(np.concatenate((self.starts, inner.stops)), np.concatenate((inner.starts, self.stops)))

    def positions(self) -> Positions:
        """Return the positions one by one."""
        return expand(self.starts, self.stops - self.starts).astype(np.intp, copy=False)


def spans(cells: GridCells, box: Box) -> Spans:
    """Return the positions, in ascending cells, of all points in a box; at its edges of a few others."""
    west, south, east, north = box
    if west <= east:
        return _band_spans(cells, box)
    if _column(west) == _column(east):  # all around but less than a column
        return _band_spans(cells, Box(-MAX_LONGITUDE, south, MAX_LONGITUDE, north))
    parts = Box(west, south, MAX_LONGITUDE, north), Box(-MAX_LONGITUDE, south, east, north)
    one, other = (_band_spans(cells, part) for part in parts)
    return Spans(np.concatenate((one.starts, other.starts)), np.concatenate((one.stops, other.stops)))


# No point of a band is farther from the one in its middle, on the same meridian; in radians.
_REACH: Final = math.radians(BAND_HEIGHT / 2 + _MARGIN)


def surely_inside(cells: GridCells, circle: Circle, box: Box) -> Spans:
    """Return for each band of the box around a circle the positions of points in it, but for those next to its edge.

    They are as near to the middle of their band as `_REACH`, which is nearer to the centre than the radius by that. The
    margin in it is more than the westernmost column adds, which is a five-hundredth as wide as a band is high.
    """
    (latitude, longitude), south, north = circle.centre, _band(box.south), _band(box.north)
    bands, centre = np.arange(south, north + 1), math.radians(latitude)
    middle = np.radians((bands + 0.5) / _BANDS_PER_DEGREE - MAX_LATITUDE)
    excess = math.cos(max(circle.radius / EARTH_RADIUS - _REACH, 0)) - math.sin(centre) * np.sin(middle)
    widths = np.degrees(np.arccos(np.clip(excess / (math.cos(centre) * np.cos(middle)), -1, 1)))
    west, east = np.maximum(longitude - widths, -MAX_LONGITUDE), np.minimum(longitude + widths, MAX_LONGITUDE)
    firsts = bands.astype(np.uint32) << np.uint32(_COLUMN_BITS)
    starts, stops = cells.searchsorted((firsts + _columns(west), firsts + _columns(east)))
    return Spans(starts, np.maximum(starts, stops))


def _band_spans(cells: GridCells, box: Box) -> Spans:
    west, south, east, north = box
    bands = np.arange(_band(south), _band(north) + 1, dtype=np.uint32) << np.uint32(_COLUMN_BITS)
    columns = np.array(
        ((_column(west),), (_column(east) + 1,)), np.uint32
    )  # after the last column begins the next band
    starts, stops = cells.searchsorted(bands + columns)
    return Spans(starts, stops)

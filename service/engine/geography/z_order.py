"""Located rows along a Z-order curve over the Web-Mercator grid: those in a cell of any zoom are next to each other."""

import math
from bisect import bisect_right
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import LOOKED_UP, spend
from service.engine.geography.grid import Floats, sine_cosine
from service.model.coordinates import MAX_ZOOM

CellNumbers = NDArray[np.uint64]
MortonCodes = NDArray[np.uint64]

# The number of cells an axis at zoom 0 is 4, at the finest 2 ** 24.
AXIS_BITS: Final = MAX_ZOOM + 2
AXIS: Final = 1 << AXIS_BITS
_CIRCLE: Final = 360  # degrees
_MAX_LATITUDE: Final = 85.0511
_LOGARITHM: Final = [2 / (2 * term + 1) for term in range(11, -1, -1)]
_LN_2: Final = math.log(2)
_ROOT: Final = 0.7071067811865476  # of 1 / 2
# Each step moves half of the bits that are still next to each other apart.
_STEPS: Final = tuple(
    (np.uint64(distance), np.uint64(mask))
    for distance, mask in (
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    )
)
_CHUNK: Final = 1 << 14  # points computed at once: they fit the processor's cache
_ONE: Final = np.uint64(1)


def columns(longitudes: Floats) -> CellNumbers:
    """Return the columns of longitudes in the finest grid, from west to east; 180 is in the last.

    Borders are doubles. The first sum may be rounded up to one, never down from one.
    """
    found = np.minimum(np.floor((longitudes + _CIRCLE / 2) / _CIRCLE * AXIS), AXIS - 1)
    found -= longitudes < found * _CIRCLE / AXIS - _CIRCLE / 2
    return found.astype(np.uint64)


def lines(latitudes: Floats) -> CellNumbers:
    """Return the rows of latitudes in the finest grid, from north to south.

    Of arithmetic alone, like sine and cosine: near a border, the logarithms of libraries differ between processors.
    """
    clamped = np.minimum(abs(latitudes), _MAX_LATITUDE)
    sine, cosine = sine_cosine(clamped)
    heights = np.copysign(_logarithm((1 + sine) / cosine), latitudes)
    return ((0.5 - heights / math.tau) * AXIS).astype(np.uint64)


def morton_codes(latitudes: Floats, longitudes: Floats) -> MortonCodes:
    """Return the Morton codes of points: those of their cells in the finest grid."""
    codes = np.empty(len(latitudes), np.uint64)
    for begin in range(0, len(codes), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        codes[chunk] = interleave(columns(longitudes[chunk]), lines(latitudes[chunk]))
    return codes


def interleave(x: CellNumbers, y: CellNumbers) -> MortonCodes:
    """Return the Morton codes of cells: the bits of both numbers in turn."""
    return _spread(x) | _spread(y) << _ONE


def separate(codes: MortonCodes) -> tuple[CellNumbers, CellNumbers]:
    """Return the column and the row of the cells of Morton codes."""
    return _gather(codes), _gather(codes >> _ONE)


def _logarithm(numbers: Floats) -> Floats:
    """Return natural logarithms."""
    mantissas, exponents = np.frexp(numbers)
    small = mantissas < _ROOT
    mantissas, exponents = np.where(small, 2 * mantissas, mantissas), exponents - small
    ratio = (mantissas - 1) / (mantissas + 1)
    square = ratio * ratio
    total = 0 * square
    for coefficient in _LOGARITHM:
        total = total * square + coefficient
    logarithms: Floats = ratio * total + exponents * _LN_2
    return logarithms


def _spread(numbers: CellNumbers) -> MortonCodes:
    """Put a zero bit above each bit."""
    for distance, mask in _STEPS:
        numbers = (numbers | numbers << distance) & mask
    return numbers


def _gather(codes: MortonCodes) -> CellNumbers:
    """Take out every second bit."""
    codes = codes & _STEPS[-1][1]
    masks = [mask for _, mask in _STEPS[-2::-1]] + [np.uint64(AXIS - 1)]
    for (distance, _), mask in zip(reversed(_STEPS), masks, strict=True):
        codes = (codes | codes >> distance) & mask
    return codes


Fixed = NDArray[np.int32]
Zooms = NDArray[np.uint8]
Totals = NDArray[np.int64]

# The name of the order among those of a table.
Z_ORDER: Final = "z_order"
# Fixed-point coordinates are multiples of 1e-7 degrees, about a centimetre: their sums are exact in any order.
UNITS_PER_DEGREE: Final = 10_000_000
# Where the cells begin is kept of zooms with at most as many.
_LARGE_CELLS: Final = 1 << 14


class ZOrder(msgspec.Struct, frozen=True, eq=False, dict=True):
    """An order of rows along the curve.

    order       all rows: the located ones by Morton code, ties by row; then the others, ascending
    positions   row -> its position in `order`
    codes       position -> Morton code of its cell of the finest zoom; this and the arrays below only of located rows
    zooms       position -> the least zoom at which the one before is in another cell; one above all if there is none
    latitudes   position -> latitude in units
    longitudes  position -> longitude in units
    """

    order: Rows
    positions: Rows
    codes: MortonCodes
    zooms: Zooms
    latitudes: Fixed
    longitudes: Fixed

    @property
    def count(self) -> int:
        """The number of located rows."""
        return len(self.codes)

    @cached_property
    def totals(self) -> tuple[Totals, Totals]:
        """The totals of the latitudes and of the longitudes; most requests need none of them."""
        spend(self.count // 2)  # to sum both takes half as long as to look at the rows
        return totals(self.latitudes), totals(self.longitudes)

    @cached_property
    def cell_counts(self) -> list[int]:
        """The number of cells that have rows, by zoom."""
        spend(self.count // LOOKED_UP)
        counts: list[int] = np.bincount(self.zooms, minlength=MAX_ZOOM + 1)[: MAX_ZOOM + 1].cumsum().tolist()
        return counts

    @cached_property
    def large_zoom(self) -> int:
        """The greatest zoom with few cells, of which it is known where they begin."""
        return bisect_right(self.cell_counts, _LARGE_CELLS) - 1

    def starts(self, zoom: int) -> NDArray[np.intp]:
        """Return where the cells of a zoom begin, at most of `large_zoom`."""
        starts, zooms = self._large_cells
        return starts[zooms <= zoom]

    @cached_property
    def _large_cells(self) -> tuple[NDArray[np.intp], Zooms]:
        """Where the cells of `large_zoom` begin, and from which zoom on cells begin there."""
        spend(self.count // LOOKED_UP)
        starts = (self.zooms <= self.large_zoom).nonzero()[0]
        return starts, self.zooms[starts]


def fixed(degrees: Floats) -> Fixed:
    """Return degrees in units, rounded."""
    return np.rint(degrees * UNITS_PER_DEGREE).astype(np.int32)


def totals(units: Fixed | Totals) -> Totals:
    """Return the sum of the units before each position, and of all: the sum of a run is the difference of two."""
    found = np.zeros(len(units) + 1, np.int64)
    units.cumsum(out=found[1:])
    return found


def zooms_of(codes: MortonCodes) -> Zooms:
    """Return for each of some ascending codes the least zoom at which the one before is in another cell."""
    # The exponent of a number as a floating-point one is its length in bits, and of a code, two bits are a zoom.
    _, lengths = np.frexp((codes[1:] ^ codes[:-1]).astype(np.float64))
    zooms = np.zeros(len(codes), np.uint8)
    zooms[1:] = np.maximum(MAX_ZOOM - (lengths - 1) // 2, 0)
    return zooms


def build_z_order(rows: Rows, others: Rows, latitudes: Floats, longitudes: Floats) -> ZOrder:
    """Return the order of located rows, ascending, at some coordinates, and of others, ascending."""
    codes = morton_codes(latitudes, longitudes)
    along = np.argsort(codes, kind="stable")
    order = np.concatenate((rows[along], others))
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order), dtype=np.int32)
    codes = codes[along]
    return ZOrder(order, positions, codes, zooms_of(codes), fixed(latitudes[along]), fixed(longitudes[along]))

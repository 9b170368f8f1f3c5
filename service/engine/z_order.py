"""Located rows along a Z-order curve over the Web-Mercator grid: those in a cell of any zoom are next to each other."""

from bisect import bisect_right
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import Rows
from service.engine.long_work import announce
from service.engine.mercator import MortonCodes, morton_codes
from service.engine.sphere import Floats
from service.model.coordinates import MAX_ZOOM

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
    places      row -> its place in `order`
    codes       place -> Morton code of its cell of the finest zoom; this and the arrays below only of located rows
    zooms       place -> the least zoom at which the place before is in another cell; one above all if there is none
    latitudes   place -> latitude in units
    longitudes  place -> longitude in units
    """

    order: Rows
    places: Rows
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
        announce(self.count)
        return totals(self.latitudes), totals(self.longitudes)

    @cached_property
    def extremes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The least and the greatest latitude, and longitude, in units; 0 if no row is located."""
        if not self.count:
            return (0, 0), (0, 0)
        announce(self.count)
        latitudes, longitudes = self.latitudes, self.longitudes
        return (int(latitudes.min()), int(latitudes.max())), (int(longitudes.min()), int(longitudes.max()))

    @cached_property
    def cell_counts(self) -> list[int]:
        """The number of cells that have rows, by zoom."""
        announce(self.count)
        counts: list[int] = np.bincount(self.zooms, minlength=MAX_ZOOM + 1)[: MAX_ZOOM + 1].cumsum().tolist()
        return counts

    def knows_starts(self, zoom: int) -> bool:
        """Return whether it is known where the cells of a zoom begin: they are few."""
        return self.cell_counts[zoom] <= _LARGE_CELLS

    def starts(self, zoom: int) -> NDArray[np.intp]:
        """Return where the cells of a zoom begin."""
        if not self.knows_starts(zoom):
            announce(self.count)
            return (self.zooms <= zoom).nonzero()[0]
        starts, zooms = self._large_cells
        return starts[zooms <= zoom]

    @cached_property
    def _large_cells(self) -> tuple[NDArray[np.intp], Zooms]:
        """Where the cells of the greatest zoom that has few of them begin, and from which zoom on cells begin there."""
        announce(self.count)
        zoom = bisect_right(self.cell_counts, _LARGE_CELLS) - 1
        starts = (self.zooms <= zoom).nonzero()[0]
        return starts, self.zooms[starts]


def fixed(degrees: Floats) -> Fixed:
    """Return degrees in units, rounded."""
    return np.rint(degrees * UNITS_PER_DEGREE).astype(np.int32)


def totals(units: Fixed | Totals) -> Totals:
    """Return the sum of the units before each place, and of all: the sum of a run is the difference of two."""
    found = np.zeros(len(units) + 1, np.int64)
    np.cumsum(units, out=found[1:])
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
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    codes = codes[along]
    return ZOrder(order, places, codes, zooms_of(codes), fixed(latitudes[along]), fixed(longitudes[along]))

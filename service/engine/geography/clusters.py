"""Clusters for maps: rows counted by cells of the Web-Mercator grid."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    ManyRows,
    RowBitmap,
    RowList,
    bit_positions,
    edges_of_runs,
    pack,
    word_count,
)
from service.engine.geography.areas import Area, box_area
from service.engine.geography.grid import Floats, Positions, are_in_box
from service.engine.geography.locations import Locations
from service.engine.geography.z_order import (
    UNITS_PER_DEGREE,
    MortonCodes,
    Totals,
    ZOrder,
    fixed,
    separate,
    totals,
    zooms_of,
)
from service.model.coordinates import MAX_ZOOM, Box

MAX_CELLS: Final = 4000
NO_ROW: Final = -1
_EDGES: Final = 2  # to look at the edge of a run takes as long as at so many rows
_STEPS: Final = 4  # of each row that is looked at alone
_FEW: Final = 1000  # rows that are looked at one by one,
_FEW_FRACTION: Final = 8  # or less than 1 / 8 of all
_NEAR: Final = 2  # to look at a row near a box takes twice as long as at one along the curve
_Integers = NDArray[np.int64]


class TooManyCells(ValueError):
    """More than `MAX_CELLS` cells have rows; `zoom` is the largest zoom with at most `MAX_CELLS` cells."""

    def __init__(self, zoom: int) -> None:
        super().__init__(f"more than {MAX_CELLS:,} cells; use zoom {zoom} or less")
        self.zoom = zoom


class Clusters(msgspec.Struct, frozen=True, eq=False):
    """The cells that have rows, from north to south, then from west to east.

    counts      the number of rows
    latitudes   their mean latitude in degrees
    longitudes  their mean longitude in degrees
    rows        the row, if it is only one, else `NO_ROW`
    """

    counts: _Integers
    latitudes: Floats
    longitudes: Floats
    rows: Rows

    def __len__(self) -> int:
        return len(self.counts)


class _OccupiedCells(msgspec.Struct, frozen=True, eq=False):
    """Cells that have rows: the code of one of these, their count, the row if it is only one, sums of coordinates."""

    codes: MortonCodes
    counts: _Integers
    rows: NDArray[np.integer]
    latitudes: _Integers
    longitudes: _Integers


def cluster(locations: Locations, matches: RowList | ManyRows | None, box: Box | None, zoom: int) -> Clusters:
    """Return the clusters of rows: a list, a scan of the Z-order, or all; of those in a box, unless it has all.

    Raises `TooManyCells`.
    """
    z_order = locations.z_order
    if isinstance(matches, RowList):
        rows = matches.rows if box is None else matches.rows[box_area(locations, box).matches(matches.rows)]
        positions: NDArray[np.signedinteger] = z_order.positions.take(rows)
    elif box is not None:
        positions = _inside(locations, matches, box)
    elif matches is not None:
        return _cluster_many(locations, matches.whole(), zoom)
    else:
        if z_order.cell_counts[zoom] > MAX_CELLS:
            raise _too_many(z_order.cell_counts.__getitem__, zoom)
        rows = z_order.order[: z_order.count]
        return _arranged(locations, _cells(z_order.codes, rows, z_order.totals, z_order.starts(zoom)), zoom)
    if len(positions) < _FEW or len(positions) * _FEW_FRACTION < z_order.count:
        positions.sort()
        cells = _cells_at(z_order, positions[: positions.searchsorted(positions.dtype.type(z_order.count))], zoom)
        return _arranged(locations, cells, zoom)
    spend(z_order.count)
    mask = np.zeros(len(z_order.order), np.bool_)
    mask[positions] = True
    return _cluster_many(locations, RowBitmap(pack(mask), z_order.order, z_order.count), zoom)


def _inside(locations: Locations, matches: ManyRows | None, box: Box) -> NDArray[np.signedinteger]:
    """Return the positions of many rows, or of all, that are in a box, in no order."""
    area, order, z_order = box_area(locations, box), locations.order, locations.z_order
    if matches is None:
        near = area.positions()
    elif matches.total < _NEAR * area.count:
        return _along(z_order, matches.whole(), area, box)
    else:
        spend(area.count)
        near = area.near.positions()
        along = z_order.positions.take(order.take(near))
        hits = matches.has(along)
        return along[hits][area.contain(near[hits])]
    return z_order.positions.take(order.take(near))


def _along(z_order: ZOrder, matches: RowBitmap, area: Area, box: Box) -> Positions:
    """Return the positions of rows along the curve in a box. Their units decide; on an edge of it, the area does."""
    spend(matches.non_null_count)
    positions = matches.positions(0, matches.non_null_count)
    latitudes, longitudes = z_order.latitudes.take(positions), z_order.longitudes.take(positions)
    west, south, east, north = fixed(np.array(box)).tolist()
    # So it still crosses the antimeridian if its longitudes have the same units.
    inside = are_in_box(Box(west + (box.west > box.east), south, east, north), latitudes, longitudes)
    on_edge = (latitudes == south) | (latitudes == north) | (longitudes == west) | (longitudes == east)
    doubtful = on_edge.nonzero()[0]
    inside[doubtful] = area.matches(z_order.order.take(positions[doubtful]))
    return positions[inside]


def _cluster_many(locations: Locations, matches: RowBitmap, zoom: int) -> Clusters:
    """Return the clusters of rows in a bitmap along the Z-order."""
    z_order, large = locations.z_order, min(zoom, locations.z_order.large_zoom)
    starts, counts = _occupied(z_order, matches, large)
    if len(starts) > MAX_CELLS:
        raise _too_many(lambda less: len(_occupied(z_order, matches, less)[0]), large)
    if large == zoom:
        cells = _cells_of_runs(z_order, matches, starts, counts)
    else:
        cells = _cells_at(z_order, matches.positions(0, matches.non_null_count), zoom)
    return _arranged(locations, cells, zoom)


def _cells_at(z_order: ZOrder, positions: Positions | Rows, zoom: int) -> _OccupiedCells:
    """Return the cells of the rows at some positions, ascending, which are looked at one by one."""
    spend(_STEPS * len(positions))
    codes = z_order.codes.take(positions)
    cells, begin = codes >> np.uint64(2 * (MAX_ZOOM - zoom)), np.ones(len(codes), np.bool_)
    np.not_equal(cells[1:], cells[:-1], out=begin[1:])
    starts = begin.nonzero()[0]
    if len(starts) > MAX_CELLS:
        zooms = zooms_of(codes)
        raise _too_many(lambda less: int(np.count_nonzero(zooms <= less)), zoom)
    before = totals(z_order.latitudes.take(positions)), totals(z_order.longitudes.take(positions))
    return _cells(codes, z_order.order.take(positions), before, starts)


def _cells(codes: MortonCodes, rows: Rows, before: tuple[Totals, Totals], starts: Positions) -> _OccupiedCells:
    """Return the cells of rows, given where they start and the totals of coordinates before each row."""
    bounds = np.concatenate((starts, (len(rows),)))
    counts, latitudes, longitudes = [each[1:] - each[:-1] for each in (bounds, *[each.take(bounds) for each in before])]
    return _OccupiedCells(codes.take(starts), counts, rows.take(starts), latitudes, longitudes)


def _cells_of_runs(z_order: ZOrder, matches: RowBitmap, starts: Positions, counts: _Integers) -> _OccupiedCells:
    """Return the cells of the rows in a bitmap, which start at few positions.

    The totals of coordinates are looked up only where runs of rows begin and end, and where cells begin.
    """
    edges_bitmap = edges_of_runs(matches.bitmap[: word_count(z_order.count)])
    spend(_EDGES * int(np.bitwise_count(edges_bitmap).sum()))
    edges = bit_positions(edges_bitmap)
    edges = edges[: edges.searchsorted(z_order.count, "right")]
    bounds = np.append(starts, z_order.count)
    passed = edges.searchsorted(bounds, "right")
    is_inside = (passed & 1).astype(np.bool_)  # of a run, which began at an even edge

    def sums(before: Totals) -> _Integers:
        signed = before.take(edges)
        np.negative(signed[::2], out=signed[::2])
        found: Totals = totals(signed).take(passed) + np.where(is_inside, before.take(bounds), 0)
        return np.diff(found)

    first = np.where(is_inside[:-1], starts, edges.take(passed[:-1], mode="clip"))
    latitudes, longitudes = map(sums, z_order.totals)
    return _OccupiedCells(z_order.codes[first], counts, z_order.order[first], latitudes, longitudes)


def _occupied(z_order: ZOrder, matches: RowBitmap, zoom: int) -> tuple[Positions, _Integers]:
    """Return where the cells begin that have rows in a bitmap, at a zoom with few cells, and how many each has."""
    starts = z_order.starts(zoom)
    counts = np.diff(matches.ranks(np.append(starts, z_order.count)))
    occupied = counts.nonzero()[0]
    return starts[occupied], counts[occupied].astype(np.int64)


def _too_many(cells: Callable[[int], int], zoom: int) -> TooManyCells:
    """Return the error of a zoom, given the number of cells by zoom."""
    return TooManyCells(bisect_right(range(zoom), MAX_CELLS, key=cells) - 1)


def _arranged(locations: Locations, cells: _OccupiedCells, zoom: int) -> Clusters:
    """Return clusters in order. Means are of integers, rounded, and the position of a single row is its own."""
    x, y = separate(cells.codes >> np.uint64(2 * (MAX_ZOOM - zoom)))
    single = cells.counts == 1
    positions = locations.positions[cells.rows[single]]
    order = np.lexsort((x, y))

    def means(sums: _Integers, degrees: Floats) -> Floats:
        found: Floats = (2 * sums + cells.counts) // (2 * cells.counts) / UNITS_PER_DEGREE
        found[single] = degrees[positions]
        return found[order]

    return Clusters(
        cells.counts[order],
        means(cells.latitudes, locations.latitudes),
        means(cells.longitudes, locations.longitudes),
        np.where(single, cells.rows, NO_ROW).astype(np.int32)[order],
    )

"""Clusters for maps: the rows in a box, counted by cells of the Web-Mercator grid."""

from bisect import bisect_right
from collections.abc import Callable
from functools import reduce
from typing import Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    Bitmap,
    bit_positions,
    count,
    count_between,
    edges_of_runs,
    is_set,
    pack,
    unpack,
    word_count,
)
from service.engine.geography.grid import Floats, Positions, Spans, are_in_box
from service.engine.geography.locations import Locations
from service.engine.geography.z_order import (
    AXIS,
    AXIS_BITS,
    UNITS_PER_DEGREE,
    Fixed,
    MortonCodes,
    Totals,
    Zooms,
    ZOrder,
    columns,
    fixed,
    interleave,
    lines,
    separate,
    totals,
    zooms_of,
)
from service.model.coordinates import MAX_ZOOM, Box
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE

MAX_CELLS: Final = 4000
NO_ROW: Final = -1
_TILES: Final = 400  # a box is covered by at most this many cells
_EDGES: Final = 2  # to look at the edge of a run takes as long as at so many rows
_STEPS: Final = 4  # of each row that is looked at alone
_FEW_FRACTION: Final = 4  # less than 1 / 4 of the rows are looked at one by one
Mask = NDArray[np.bool_]
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


class _Points(msgspec.Struct, frozen=True, eq=False):
    """Located rows along the Z-order curve, all or some, and their coordinates in units."""

    rows: Rows
    codes: MortonCodes
    latitudes: Fixed
    longitudes: Fixed

    @classmethod
    def of(cls, z_order: ZOrder) -> Self:
        """Return all located rows."""
        return cls(z_order.order[: z_order.count], z_order.codes, z_order.latitudes, z_order.longitudes)

    def __getitem__(self, which: Positions | Rows | Mask) -> Self:
        return type(self)(self.rows[which], self.codes[which], self.latitudes[which], self.longitudes[which])

    def inside(self, locations: Locations, box: Box) -> Mask:
        """Return for each row whether it is in a box that does not surround all."""
        tests = [
            _between(units, *degrees)
            for units, extremes, degrees in zip(
                (self.latitudes, self.longitudes), locations.z_order.extremes, _axes(box), strict=True
            )
            if not _surround(*degrees, *extremes)
        ]
        inside = reduce(np.logical_and, (within for within, _ in tests))
        doubtful = (reduce(np.logical_or, (on_edge for _, on_edge in tests)) & inside).nonzero()[0]
        if len(doubtful):
            inside[doubtful] = _contains(box, locations, locations.positions.take(self.rows.take(doubtful)))
        return inside


def cluster_all(locations: Locations, box: Box, zoom: int) -> Clusters:
    """Return the clusters of all rows in a box. Raises `TooManyCells`."""
    if _surrounds_all(locations, box):
        return _cluster_located(locations, zoom)
    near = _cover(locations.z_order, box)
    if _are_few(near.count, locations):
        return _cluster_few(locations, near.positions(), box, zoom)
    return _cluster_chosen(locations, _inside(locations, box), zoom)


def cluster_bitmap(locations: Locations, bitmap: Bitmap, box: Box, zoom: int) -> Clusters:
    """Return the clusters of the rows in a box, given as a bitmap along the Z-order. Raises `TooManyCells`."""
    if locations.z_order.knows_starts(zoom) and _surrounds_all(locations, box):
        return _arranged(locations, _cells_of_runs(locations.z_order, bitmap, zoom), zoom)
    if _are_few(count(bitmap), locations):
        return _cluster_few(locations, _located(bit_positions(bitmap), locations), box, zoom)
    spend(locations.count)
    if _surrounds_all(locations, box):
        return _cluster_chosen(locations, unpack(bitmap, locations.count), zoom)
    near = _cover(locations.z_order, box)
    if _are_few(near.count, locations):
        positions = near.positions()
        return _cluster_few(locations, positions[is_set(bitmap, positions)], box, zoom)
    return _cluster_chosen(locations, unpack(bitmap, locations.count) & _inside(locations, box), zoom)


def cluster_rows(locations: Locations, rows: Rows, box: Box, zoom: int) -> Clusters:
    """Return the clusters of those of some rows that are in a box, best of few rows. Raises `TooManyCells`."""
    spend(_STEPS * len(rows))
    return _cluster_few(locations, _located(np.sort(locations.z_order.positions.take(rows)), locations), box, zoom)


def _located(positions: Positions | Rows, locations: Locations) -> Positions | Rows:
    """Return those of some positions, ascending, that have located rows."""
    return positions[: positions.searchsorted(locations.count)]


def _are_few(count: int, locations: Locations) -> bool:
    """Return whether a number of rows are looked at one by one; spend the budget for them if so."""
    are_few = count * _FEW_FRACTION < locations.count
    if are_few:
        spend(_STEPS * count)
    return are_few


def _cover(z_order: ZOrder, box: Box) -> Spans:
    """Return the positions of all rows in a box and of some others, ascending: those in a few cells of one size."""
    west, south, east, north = box
    first, last = columns(np.array([west, east])).tolist()
    top, bottom = lines(np.array([north, south])).tolist()
    top, bottom = max(top - 1, 0), min(bottom + 1, AXIS - 1)  # the projection is not quite monotonic
    width = last - first if west <= east else last - first + AXIS
    height = bottom - top
    shift = next(each for each in range(AXIS_BITS) if ((width >> each) + 2) * ((height >> each) + 2) <= _TILES)
    across = min(((first + width) >> shift) - (first >> shift) + 1, AXIS >> shift)
    x = ((first >> shift) + np.arange(across, dtype=np.uint64)) % np.uint64(AXIS >> shift)
    y = np.arange(top >> shift, (bottom >> shift) + 1, dtype=np.uint64)
    tiles = np.sort(interleave(np.tile(x, len(y)), np.repeat(y, len(x))))
    bits = np.uint64(2 * shift)
    search = z_order.codes.searchsorted
    return Spans(search(tiles << bits), search(tiles + np.uint64(1) << bits))


def _axes(box: Box) -> tuple[tuple[float, float, int], tuple[float, float, int]]:
    """Return the edges of a box by axis, and the end of the axis."""
    west, south, east, north = box
    return (south, north, MAX_LATITUDE), (west, east, MAX_LONGITUDE)


def _surrounds_all(locations: Locations, box: Box) -> bool:
    """Return whether a box certainly contains all located rows."""
    return all(
        _surround(*degrees, *extremes) for degrees, extremes in zip(_axes(box), locations.z_order.extremes, strict=True)
    )


def _surround(low: float, high: float, limit: int, first: int, last: int) -> bool:
    """Return whether all units from a first to a last one are certainly between two coordinates."""
    least, most = fixed(np.array([low, high])).tolist()
    return low <= high and (low == -limit or least < first) and (high == limit or last < most)


def _between(units: Fixed, low: float, high: float, limit: int) -> tuple[Mask, Mask]:
    """Return for each coordinate whether it is between two others, or beyond if low > high.

    The second mask is of those with the units of an edge: only degrees tell on which side they are.
    """
    least, most = fixed(np.array([low, high])).tolist()
    if low > high:
        return (units >= least) | (units <= most), (units == least) | (units == most)
    least, most = least - (low == -limit), most + (high == limit)
    return (units >= least) & (units <= most), (units == least) | (units == most)


def _contains(box: Box, locations: Locations, positions: Rows) -> Mask:
    """Return whether a box contains the points at some positions of the locations, by their degrees."""
    latitudes, longitudes = locations.latitudes, locations.longitudes
    are_few = len(positions) * _FEW_FRACTION < len(latitudes)
    if are_few:
        latitudes, longitudes = latitudes.take(positions), longitudes.take(positions)
    inside = are_in_box(box, latitudes, longitudes)
    return inside if are_few else inside.take(positions)  # of many, bytes are taken faster than degrees


def _inside(locations: Locations, box: Box) -> Mask:
    """Return for each located row, along the curve, whether it is in a box that does not surround all."""
    spend(locations.count)
    return _Points.of(locations.z_order).inside(locations, box)


def _cluster_few(locations: Locations, positions: Positions | Rows, box: Box, zoom: int) -> Clusters:
    """Return the clusters of the rows in a box among those at some positions, ascending."""
    points = _Points.of(locations.z_order)[positions]
    if not _surrounds_all(locations, box):
        points = points[points.inside(locations, box)]
    return _cluster_points(locations, points, zoom)


def _cluster_points(locations: Locations, points: _Points, zoom: int) -> Clusters:
    """Return the clusters of points, of which nothing is computed yet."""
    zooms = zooms_of(points.codes)
    starts = (zooms <= zoom).nonzero()[0]
    if len(starts) > MAX_CELLS:
        raise _too_many(lambda less: int(np.count_nonzero(zooms <= less)), zoom)
    cells = _cells(points, (totals(points.latitudes), totals(points.longitudes)), starts)
    return _arranged(locations, cells, zoom)


def _cluster_located(locations: Locations, zoom: int) -> Clusters:
    """Return the clusters of all located rows."""
    z_order = locations.z_order
    if z_order.cell_counts[zoom] > MAX_CELLS:
        raise _too_many(z_order.cell_counts.__getitem__, zoom)
    return _arranged(locations, _cells(_Points.of(z_order), z_order.totals, z_order.starts(zoom)), zoom)


def _cluster_chosen(locations: Locations, chosen: Mask, zoom: int) -> Clusters:
    """Return the clusters of the rows at the positions in a mask."""
    points = _Points.of(locations.z_order)
    if _are_few(int(np.count_nonzero(chosen)), locations):
        return _cluster_points(locations, points[chosen.nonzero()[0]], zoom)
    return _arranged(locations, _cells_of_chosen(points, locations.z_order.zooms, chosen, zoom), zoom)


def _cells(points: _Points, before: tuple[Totals, Totals], starts: Positions) -> _OccupiedCells:
    """Return the cells of points, given where they start and the totals of coordinates before each."""
    bounds = np.append(starts, len(points.rows))
    latitudes, longitudes = np.diff(before[0].take(bounds)), np.diff(before[1].take(bounds))
    return _OccupiedCells(points.codes[starts], np.diff(bounds), points.rows[starts], latitudes, longitudes)


def _cells_of_runs(z_order: ZOrder, bitmap: Bitmap, zoom: int) -> _OccupiedCells:
    """Return the cells of the rows in a bitmap, at a zoom whose cells are known to begin at few positions.

    The totals of coordinates are looked up only where runs of rows begin and end, and where cells begin.
    """
    starts, counts = _occupied(z_order, bitmap, zoom)
    if len(starts) > MAX_CELLS:
        raise _too_many(lambda less: len(_occupied(z_order, bitmap, less)[0]), zoom)
    edges_bitmap = edges_of_runs(bitmap[: word_count(z_order.count)])
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


def _occupied(z_order: ZOrder, bitmap: Bitmap, zoom: int) -> tuple[Positions, _Integers]:
    """Return where the cells begin that have rows in a bitmap, at a zoom with few cells, and how many each has."""
    starts = z_order.starts(zoom)
    counts = count_between(bitmap, np.append(starts, z_order.count))
    occupied = counts.nonzero()[0]
    return starts[occupied], counts[occupied]


def _cells_of_chosen(points: _Points, zooms: Zooms, chosen: Mask, zoom: int) -> _OccupiedCells:
    """Return the cells of the chosen points; the arrays are as long as those of all points."""
    bitmap = pack(chosen)
    bits = _number(bitmap)
    ends = _ends(zooms <= zoom, bits)
    if ends.bit_count() > MAX_CELLS:
        raise _too_many(lambda less: _ends(zooms <= less, bits).bit_count(), zoom)
    lasts = bit_positions(np.frombuffer(ends.to_bytes(bitmap.nbytes, "little"), np.uint64))
    # A cell starts at the end of the one before: in between are only cells without chosen rows.
    starts = np.append(0, lasts[:-1] + 1)[: len(lasts)]
    counts = count_between(bitmap, np.append(starts, len(chosen)))
    masked = np.empty_like(points.rows)  # used three times: fresh memory takes longer than the sums
    latitudes, longitudes = (
        np.add.reduceat(np.multiply(each, chosen, out=masked), starts, dtype=np.int64)
        for each in (points.latitudes, points.longitudes)
    )
    rows = np.maximum.reduceat(np.multiply(points.rows, chosen, out=masked), starts)
    return _OccupiedCells(points.codes[lasts], counts, rows, latitudes, longitudes)


def _number(bitmap: Bitmap) -> int:
    return int.from_bytes(bitmap.tobytes(), "little")


def _ends(starts: Mask, bits: int) -> int:
    """Return the last position of each run that has some of the positions in `bits`, given where runs start.

    Sets of positions are the bits of integers. In each run, all its positions but the last are added to those that are
    in `bits`: if there are any, 1 is carried to the last.
    """
    lasts = _number(pack(np.append(starts[1:], True)[: len(starts)]))
    others = lasts ^ ((1 << len(starts)) - 1)
    return (((bits & others) + others) | bits) & lasts


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

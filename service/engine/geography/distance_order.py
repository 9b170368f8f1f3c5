"""The matching rows of a table in the order of their distance from a point; only what a page needs is sorted."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import RowList, ScannedRows, Selection, bit_positions, is_set, unpack
from service.engine.geography.grid import (
    BAND_HEIGHT,
    EARTH_RADIUS,
    Floats,
    Positions,
    box_around,
    cell_of,
    rounded_metres,
    spans,
    squared_chord,
)
from service.engine.geography.locations import Locations, squared_chords, vector_of
from service.model.coordinates import Coordinates

_DEGREE: Final = math.radians(EARTH_RADIUS)  # metres
_BAND_METRES: Final = _DEGREE * BAND_HEIGHT
_MIN_RADIUS: Final = 100.0  # metres
_MAX_RADIUS: Final = 300_000.0  # metres: a circle of a larger one has so many bands that blocks are faster
_GROWTH: Final = 2.0
_AMPLE: Final = 2  # the first search expects this many times the needed rows: a second radius costs as much
_FEW: Final = 1000  # rows whose distances cost as much as counting those within another radius
_EXCESS: Final = 8.0  # if more than this many times the needed rows are found, another radius is worth it,
_TOLERANCE: Final = 1.25  # unless a radius that is smaller by this factor has too few
# A page is looked for nearby if its rows are among the nearest 1 / 8; else distances of all rows are computed.
_NEARBY_FRACTION: Final = 8
_FIRST_BLOCKS: Final = 8
_ROUNDED_UP: Final = 1 + 1e-12  # the square of a root may be less than the number
_EARTH_FRACTION: Final = 8  # a box that has more than 1 / 8 of all rows is no shorter way
_SORTED: Final = 4000  # sorting this many rows takes as long as finding those of a page
_WITH_DISTANCE: Final = 100
_SORTING: Final = 8  # to sort a row by distance takes as long as to look at so many
_PRECISION: Final = 2e-7  # of cosines in single precision
_NO_ROWS: Final = np.empty(0, np.int32)


class DistanceOrder(Selection):
    """Many rows from the nearest to the farthest, ties by row; then the rows that are not located, ascending.

    The rows are some, or all. They are put into order page by page.
    """

    __slots__ = ("_located", "_locations", "_matches", "_others", "_point")

    def __init__(self, locations: Locations, point: Coordinates, matches: ScannedRows | None = None) -> None:
        self._locations, self._point, self._matches = locations, point, matches
        self._others = locations.order[locations.count :]
        if matches is not None:
            spend(len(self._others))
            self._others = self._others[is_set(matches.bitmap, self._others)]
        total = len(locations.order) if matches is None else matches.total
        self._located = total - len(self._others)
        super().__init__(total, self._located, 0)

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one rank to another."""
        near, others = _NO_ROWS, self._others[max(start - self._located, 0) : max(stop - self._located, 0)]
        if located := range(start, min(stop, self._located)):
            rows, _, ranks = self._sorted(located)
            near = rows[ranks.start : ranks.stop]
        return np.concatenate((near, others)) if len(others) else near

    def nearest(self, number: int) -> RowList | None:
        """Return the nearest rows in order, at least `number`; None if these are too many, or not all located."""
        if number > min(_SORTED, self._located):
            return None
        rows, chords, _ = self._sorted(range(number))
        return _nearest_rows(rows, chords, self.total)

    def listed(self) -> RowList:
        """Return all rows in order, as a list. It takes a tenth of a second of a million rows."""
        rows = self._all()
        near, _ = _by_distance(rows, self._chords(rows))
        return RowList(np.concatenate((near, self._others)), self._located)

    def _all(self) -> Rows:
        """Return all located rows."""
        if self._matches is None:
            return self._locations.order[: self._located]
        rows = bit_positions(self._matches.bitmap).astype(np.int32)
        return rows[self._locations.positions.take(rows) < self._locations.count] if len(self._others) else rows

    def _chords(self, rows: Rows) -> Floats:
        positions = self._locations.positions.take(rows)
        return squared_chords(self._point, self._locations.points.take(positions, axis=0))

    def _among_all(self, ranks: range) -> tuple[Rows, range]:
        """Return rows that may have some ranks, and which ranks these are among them.

        Distances of all rows in single precision decide, which takes less time, unless only some rows match.
        """
        count = self._locations.count
        spend(count)
        if self._located * _NEARBY_FRACTION <= count:
            return self._all(), ranks
        nearness = (self._locations.points @ -np.array(vector_of(self._point))).astype(np.float32)
        if self._matches is not None:  # farthest away is what does not match
            np.copyto(nearness, np.inf, where=~unpack(self._matches.marked().bitmap, len(nearness)))
        window, ranks = _window(nearness, ranks, _PRECISION)
        return self._locations.order.take(window), ranks

    def _sorted(self, ranks: range) -> tuple[Rows, Floats, range]:
        """Return located rows in order, and their chords, and which of them have some ranks.

        They leave out no row between two of them, so from rank 0 on they are the first rows of the order.
        """
        nearby = None
        if ranks.stop * _NEARBY_FRACTION <= self._located:
            nearby = self._nearest(ranks.stop) or self._far(ranks.stop)
        if nearby is None:
            rows, ranks = self._among_all(ranks)
            nearby = rows, self._chords(rows)
        rows, chords = nearby
        if len(rows) > _SORTED:
            window, ranks = _window(chords, ranks, 0)
            rows, chords = rows[window], chords[window]
        rows, chords = _by_distance(rows, chords)
        return rows, chords, ranks

    def _nearest(self, number: int) -> tuple[Rows, Floats] | None:
        """Return the nearest rows, at least a number of them, unless they are far away.

        The rows around are counted before any distance is computed: a radius that promises too few is enlarged, one
        with many more than needed is reduced. Where fewer rows match than elsewhere, more are needed.
        """
        needed = number * self._locations.count / self._located
        low, high = 0.0, math.inf
        radius = self._typical_radius(int(_AMPLE * needed))
        while radius < _MAX_RADIUS:
            near = spans(self._locations.cells, box_around(self._point, radius))
            count = near.count
            if count > _EXCESS * needed + _FEW and radius > max(_TOLERANCE * low, _MIN_RADIUS):
                high = radius
            else:
                if count * _EARTH_FRACTION > self._locations.count:
                    return None
                promised = count * min(radius / (len(near.starts) * _BAND_METRES), 1)
                if promised >= needed:
                    nearest = self._among(self._locations.order.take(near.positions()), squared_chord(radius))
                    if len(nearest[0]) >= number:
                        return nearest
                    needed = max(needed, min(number * promised / (len(nearest[0]) + 1), _GROWTH * promised))
                low, high = radius, math.inf
            radius = min(_GROWTH * low, math.sqrt(low * high)) if low else high / _GROWTH
        return None

    def _far(self, number: int) -> tuple[Rows, Floats] | None:
        """Return the nearest rows, at least a number; None if distances are too similar to prune.

        The farthest that is needed of those in the nearest blocks says which other blocks may have nearer ones.
        """
        blocks = self._locations.blocks
        bounds = blocks.bounds(vector_of(self._point))
        most = len(bounds) // _NEARBY_FRACTION
        looked_at = _FIRST_BLOCKS
        while looked_at < most:
            nearest = np.argpartition(bounds, looked_at)[:looked_at]
            positions, chords = self._among(blocks.rows_in(nearest), math.inf)
            if len(positions) >= number:
                farthest = math.sqrt(np.partition(chords, number - 1)[number - 1])
                needed = (bounds <= farthest).nonzero()[0]
                if len(needed) <= most:
                    return self._among(blocks.rows_in(needed), farthest * farthest * _ROUNDED_UP)
            looked_at *= 2
        return None

    def _among(self, rows: Rows, square: float) -> tuple[Rows, Floats]:
        """Return which of some rows match and have at most a squared chord, and their squared chords."""
        spend(len(rows))
        if self._matches is not None:
            rows = rows[is_set(self._matches.bitmap, rows)]
        chords = self._chords(rows)
        near = (chords <= square).nonzero()[0]
        return rows.take(near), chords.take(near)

    def _typical_radius(self, number: int) -> float:
        """Return a radius that has a number of rows if they are as dense as the neighbours in the band."""
        latitude, _ = self._point
        cells, longitudes = self._locations.cells, self._locations.longitudes
        position = int(cells.searchsorted(np.uint32(cell_of(self._point))))
        first, last = max(position - number, 0), min(position + number, len(cells) - 1)
        width = abs(float(longitudes[last]) - float(longitudes[first])) / 2 * math.cos(math.radians(latitude))
        return _DEGREE * math.sqrt(width * BAND_HEIGHT / math.pi) + _MIN_RADIUS


def order_rows(locations: Locations, point: Coordinates, rows: Rows) -> RowList:
    """Return rows in the order of their distance."""
    spend(_SORTING * len(rows))
    total, others, positions = len(rows), _NO_ROWS, locations.positions.take(rows)
    if int(positions.max(initial=0)) >= locations.count:
        located = positions < locations.count
        rows, positions, others = rows[located], positions[located], rows[~located]
    rows, chords = _by_distance(rows, locations.squared_chords(point, positions))
    return _nearest_rows(np.concatenate((rows, others)) if len(others) else rows, chords, total)


def _nearest_rows(rows: Rows, chords: Floats, total: int) -> RowList:
    """Return the first of `total` rows, or all, with the distances of as many as most pages have.

    `chords` are those of the located rows, which come first.
    """
    return RowList(rows, len(chords), total, rounded_metres(chords[:_WITH_DISTANCE]).tolist())


def _by_distance(rows: Rows, chords: Floats) -> tuple[Rows, Floats]:
    """Return rows by chord, ties by row, and the chords."""
    order = chords.argsort()
    ascending = chords.take(order)
    same = ascending[1:] == ascending[:-1]
    if same.any():  # sorting by two keys takes several times as long: only ties need it
        tied = (np.append(same, False) | np.append(False, same)).nonzero()[0]
        among = order.take(tied)
        order[tied] = among.take(np.lexsort((rows.take(among), ascending.take(tied))))
    return rows.take(order), ascending


def _window(values: NDArray[np.floating[Any]], ranks: range, precision: float) -> tuple[Positions, range]:
    """Return the positions of all values that may have some ranks, and which ranks these are among them.

    `precision` is how far a value may be from what it stands for.
    """
    last = ranks.stop - 1
    nearest = np.partition(values, last)[: ranks.stop]  # one rank after the other: several at once take much longer
    least = np.partition(nearest, ranks.start)[ranks.start] - 2 * precision
    most = nearest[last] + 2 * precision
    skipped = int(np.count_nonzero(values < least))
    window = ((values >= least) & (values <= most)).nonzero()[0]
    return window, range(ranks.start - skipped, ranks.stop - skipped)

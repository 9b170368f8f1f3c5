"""The matching rows of a table in the order of their distance from a point; only what a page needs is sorted."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import ManyRows, RowList, Selection, unpack
from service.engine.geography.areas import Area
from service.engine.geography.grid import (
    BAND_HEIGHT,
    EARTH_RADIUS,
    Floats,
    box_around,
    cell_of,
    rounded_metres,
    spans,
    squared_chord,
)
from service.engine.geography.locations import Locations, vector_of
from service.model.coordinates import Coordinates

# Positions among the locations.
Positions = NDArray[np.integer]

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
# If at most 1 / 2 of all rows match, the distances of these are computed.
_SOME_FRACTION: Final = 2
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

    The rows are some, or all; with an area, a circle around the point, only those inside. They are put into order page
    by page.
    """

    __slots__ = ("_inside", "_located", "_locations", "_matches", "_point")

    def __init__(
        self, locations: Locations, point: Coordinates, matches: ManyRows | None = None, area: Area | None = None
    ) -> None:
        self._locations, self._point, self._matches = locations, point, matches
        total, self._located = len(locations.order), locations.count
        if matches is not None:
            total, self._located = matches.total, matches.valued()
        self._inside = None if area is None else area.positions()
        if self._inside is not None:
            if matches is not None:
                self._inside = self._inside[matches.has(self._inside)]
            total = len(self._inside)
        super().__init__(total, min(total, self._located), 0)

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one rank to another."""
        near = _NO_ROWS
        if located := range(start, min(stop, self.non_null_count)):
            rows, _, ranks = self._sorted(located)
            near = rows[ranks.start : ranks.stop]
        others = range(max(start, self.non_null_count), stop)
        return np.concatenate((near, self._others(others.start, stop))) if others else near

    def nearest(self, number: int) -> RowList | None:
        """Return the nearest rows in order, at least `number`; None if these are too many, or not all located."""
        if number > min(_SORTED, self.non_null_count):
            return None
        rows, chords, _ = self._sorted(range(number))
        return _nearest_rows(rows, chords, self.total)

    def whole(self) -> RowList:
        """Return all rows in order, as a list. It takes a tenth of a second of a million rows."""
        spend(_SORTING * self.total)
        positions = self._all()
        near, _ = self._by_distance(positions, self._chords(positions))
        return RowList(np.concatenate((near, self._others(len(near), self.total))), len(near))

    def _others(self, start: int, stop: int) -> Rows:
        """Return the rows of some ranks that are not located."""
        return self._locations.order[start:stop] if self._matches is None else self._matches.whole().slice(start, stop)

    def _all(self) -> Positions:
        """Return the positions of all located rows."""
        if self._inside is not None:
            return self._inside
        return np.arange(self._located) if self._matches is None else self._matches.whole().positions(0, self._located)

    def _chords(self, positions: Positions) -> Floats:
        return self._locations.squared_chords(self._point, positions)

    def _by_distance(self, positions: Positions, chords: Floats) -> tuple[Rows, Floats]:
        return _by_distance(self._locations.order.take(positions), chords)

    def _among_all(self, ranks: range) -> tuple[Positions, range]:
        """Return positions of rows that may have some ranks, and which ranks these are among them.

        Distances of all rows in single precision decide, which takes less time, unless only some rows match.
        """
        count = self._locations.count
        spend(count)
        if self.non_null_count * _SOME_FRACTION <= count:
            return self._all(), ranks
        nearness = (self._locations.points @ -np.array(vector_of(self._point))).astype(np.float32)
        if self._matches is not None:  # farthest away is what does not match
            np.copyto(nearness, np.inf, where=~unpack(self._matches.whole().bitmap, len(nearness)))
        return _window(nearness, ranks, _PRECISION)

    def _sorted(self, ranks: range) -> tuple[Rows, Floats, range]:
        """Return located rows in order, and their chords, and which of them have some ranks.

        They leave out no row between two of them, so from rank 0 on they are the first rows of the order.
        """
        nearby: tuple[Positions, Floats] | None = None
        if self._inside is not None and len(self._inside) <= _SORTED:
            nearby = self._inside, self._chords(self._inside)
        elif ranks.stop * _NEARBY_FRACTION <= self._located:
            nearby = self._nearest(ranks.stop) or self._far(ranks.stop)
        if nearby is None:
            positions, ranks = self._among_all(ranks)
            nearby = positions, self._chords(positions)
        positions, chords = nearby
        if len(positions) > _SORTED:
            window, ranks = _window(chords, ranks, 0)
            positions, chords = positions[window], chords[window]
        rows, chords = self._by_distance(positions, chords)
        return rows, chords, ranks

    def _nearest(self, number: int) -> tuple[Positions, Floats] | None:
        """Return the positions of the nearest rows, at least a number of them, unless they are far away.

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
                    nearest = self._among(near.positions(), squared_chord(radius))
                    if len(nearest[0]) >= number:
                        return nearest
                    needed = max(needed, min(number * promised / (len(nearest[0]) + 1), _GROWTH * promised))
                low, high = radius, math.inf
            radius = min(_GROWTH * low, math.sqrt(low * high)) if low else high / _GROWTH
        return None

    def _far(self, number: int) -> tuple[Positions, Floats] | None:
        """Return the positions of the nearest rows, at least a number; None if distances are too similar to prune.

        The farthest that is needed of those in the nearest blocks says which other blocks may have nearer ones.
        """
        blocks = self._locations.blocks
        bounds = blocks.bounds(vector_of(self._point))
        most = len(bounds) // _NEARBY_FRACTION
        looked_at = _FIRST_BLOCKS
        while looked_at < most:
            nearest = np.argpartition(bounds, looked_at)[:looked_at]
            positions, chords = self._among(blocks.positions_in(nearest), math.inf)
            if len(positions) >= number:
                farthest = math.sqrt(np.partition(chords, number - 1)[number - 1])
                needed = (bounds <= farthest).nonzero()[0]
                if len(needed) <= most:
                    return self._among(blocks.positions_in(needed), farthest * farthest * _ROUNDED_UP)
            looked_at *= 2
        return None

    def _among(self, positions: Positions, square: float) -> tuple[Positions, Floats]:
        """Return which of some positions match and have at most a squared chord, and their squared chords."""
        spend(len(positions))
        if self._matches is not None:
            positions = positions[self._matches.has(positions)]
        chords = self._chords(positions)
        near = (chords <= square).nonzero()[0]
        return positions.take(near), chords.take(near)

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

"""The matching rows of a table in the order of their distance from a point; only what a page needs is sorted."""

import math
from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, is_set, positions, unpack
from service.engine.column import Rows
from service.engine.grid import BAND_HEIGHT, Places, Spans, cell_of, spans
from service.engine.locations import Locations
from service.engine.sphere import EARTH_RADIUS, Floats, box_around, squared_chord
from service.model.place import Point

_WORD_BITS: Final = 64
_DEGREE: Final = math.radians(EARTH_RADIUS)  # metres
_MIN_RADIUS: Final = 100.0  # metres
_MAX_RADIUS: Final = math.pi / 2 * EARTH_RADIUS  # a box around more is the whole earth
_GROWTH: Final = 2.0
_FEW: Final = 1000  # rows whose distances cost as much as counting those within another radius
_EXCESS: Final = 8.0  # so many times the rows needed, and a few, are worth another radius,
_TOLERANCE: Final = 1.25  # unless a radius that is smaller by this factor has too few
# A page is looked for nearby if its rows are among the nearest 1 / 8; else distances of all rows are computed.
_NEARBY_FRACTION: Final = 8
_EARTH_FRACTION: Final = 8  # a box that has more than 1 / 8 of all rows is no shorter way
_PRECISION: Final = 2e-7  # of cosines in single precision


class _Located(Protocol):
    """Rows with a distance."""

    @property
    def count(self) -> int: ...

    def ranked(self, ranks: range) -> Rows: ...


class DistanceOrder:
    """Rows from the nearest to the farthest, ties by row; then the rows that are not located, ascending.

    `others` returns the rows that are not located: few pages need them.
    """

    def __init__(self, total: int, located: _Located, others: Callable[[], Rows]) -> None:
        self.total, self._located, self._others = total, located, others

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the located rows, then the others.
        """
        middle = self._located.count
        near = range(min(span.start, middle), min(span.stop, middle))
        if not near:
            first = np.empty(0, np.int32)
        elif descending:
            first = self._located.ranked(range(middle - near.stop, middle - near.start))[::-1]
        else:
            first = self._located.ranked(near)
        if span.stop <= middle:
            return first
        others = self._others()[::-1] if descending else self._others()
        return np.concatenate((first, others[max(span.start - middle, 0) : span.stop - middle]))


class _Listed:
    """Rows with the squared chords from the point."""

    def __init__(self, rows: Rows, chords: Floats) -> None:
        self._rows, self._chords = rows, chords
        self.count = len(rows)

    def ranked(self, ranks: range) -> Rows:
        """Return the rows of some ranks, of at least one, by distance, ties by row."""
        return _ranked(self._rows, self._chords, ranks)


class _Dense:
    """Many located rows: those in a bitmap by place, or all."""

    def __init__(self, locations: Locations, point: Point, bitmap: Bitmap | None, count: int) -> None:
        self._locations, self._point, self._bitmap = locations, point, bitmap
        self.count = count

    def ranked(self, ranks: range) -> Rows:
        """Return the rows of some ranks, of at least one, by distance, ties by row."""
        nearby = self._nearest(ranks.stop) if ranks.stop * _NEARBY_FRACTION <= self.count else None
        if nearby is not None:
            places, chords = nearby
        else:
            places, ranks = self._among_all(ranks)
            chords = self._locations.squared_chords(self._point, places)
        return _ranked(self._locations.order[places], chords, ranks)

    def _nearest(self, number: int) -> tuple[Places, Floats] | None:
        """Return the places of the nearest rows, at least a number of them, unless they are far away.

        The number of rows around is counted before any distance is computed: a radius with too few is enlarged, one
        with many more than needed is reduced. Where fewer rows match than elsewhere, more are needed.
        """
        expected = number * self._locations.count / self.count
        low, high = 0.0, math.inf
        radius = self._typical_radius(int(expected))
        while radius < _MAX_RADIUS:
            near = spans(self._locations.cells, box_around(self._point, radius))
            if near.count > _EXCESS * expected + _FEW and radius > max(_TOLERANCE * low, _MIN_RADIUS):
                high = radius
            else:
                if near.count * _EARTH_FRACTION > self._locations.count:
                    return None
                if near.count >= expected:
                    found = self._inside(near, radius)
                    if len(found[0]) >= number:
                        return found
                    expected = max(expected, number * near.count / (len(found[0]) + 1))
                low, high = radius, math.inf
            radius = min(_GROWTH * low, math.sqrt(low * high)) if low else high / _GROWTH
        return None

    def _inside(self, near: Spans, radius: float) -> tuple[Places, Floats]:
        places = self._matching(near.places())
        chords = self._locations.squared_chords(self._point, places)
        inside = chords <= squared_chord(radius)
        return places[inside], chords[inside]

    def _typical_radius(self, number: int) -> float:
        """Return a radius that has a number of rows if they are as dense as the neighbours in the band."""
        latitude, _ = self._point
        cells, longitudes = self._locations.cells, self._locations.longitudes
        place = int(cells.searchsorted(np.uint32(cell_of(self._point))))
        first, last = max(place - number, 0), min(place + number, len(cells) - 1)
        width = abs(float(longitudes[last]) - float(longitudes[first])) / 2 * math.cos(math.radians(latitude))
        return _DEGREE * math.sqrt(width * BAND_HEIGHT / math.pi) + _MIN_RADIUS

    def _matching(self, places: Places) -> Places:
        return places if self._bitmap is None else places[is_set(self._bitmap, places)]

    def _among_all(self, ranks: range) -> tuple[Places, range]:
        """Return the places of rows that may have some ranks, and which ranks these are among them.

        Distances of all rows in single precision decide, which takes half the time, unless only a few rows match.
        """
        if self._bitmap is not None and self.count * _NEARBY_FRACTION <= self._locations.count:
            return positions(self._bitmap)[: self.count], ranks
        nearness = self._locations.nearness(self._point)
        if self._bitmap is not None:  # farthest away is what does not match
            np.copyto(nearness, np.inf, where=~unpack(self._bitmap, len(nearness)))
        return _window(nearness, ranks, _PRECISION)


def order_rows(locations: Locations, point: Point, rows: Rows) -> DistanceOrder:
    """Return rows, ascending, in the order of their distance."""
    places = locations.places.take(rows)
    located = places < locations.count
    if located.all():
        return DistanceOrder(len(rows), _Listed(rows, locations.squared_chords(point, places)), _nothing)
    chords = locations.squared_chords(point, places[located])
    return DistanceOrder(len(rows), _Listed(rows[located], chords), lambda: rows[~located])


def _nothing() -> Rows:
    return np.empty(0, np.int32)


def order_bitmap(locations: Locations, point: Point, bitmap: Bitmap) -> DistanceOrder:
    """Return the rows at the places in a bitmap in the order of their distance."""
    words, bits = divmod(locations.count, _WORD_BITS)
    counts = np.bitwise_count(bitmap)
    count = int(counts[:words].sum())
    if bits:
        count += (int(bitmap[words]) & ((1 << bits) - 1)).bit_count()
    located = _Dense(locations, point, bitmap, count)

    def others() -> Rows:
        return locations.order[positions(bitmap)[count:]]

    return DistanceOrder(int(counts.sum()), located, others)


def order_all(locations: Locations, point: Point) -> DistanceOrder:
    """Return all rows in the order of their distance."""
    located = _Dense(locations, point, None, locations.count)
    return DistanceOrder(len(locations.order), located, lambda: locations.order[locations.count :])


def _ranked(rows: Rows, chords: Floats, ranks: range) -> Rows:
    """Return the rows of some ranks by chord, ties by row."""
    if len(ranks) < len(rows):
        window, ranks = _window(chords, ranks, 0)
        rows, chords = rows[window], chords[window]
    return rows[np.lexsort((rows, chords))[ranks.start : ranks.stop]]


def _window(values: NDArray[np.floating[Any]], ranks: range, precision: float) -> tuple[Places, range]:
    """Return the places of all values that may have some ranks, and which ranks these are among them.

    `precision` is how far a value may be from what it stands for.
    """
    last = ranks.stop - 1
    nearest = np.partition(values, last)[: ranks.stop]  # one rank after the other: several at once take much longer
    highest, lowest = nearest[last], np.partition(nearest, ranks.start)[ranks.start]
    least, most = lowest - 2 * precision, highest + 2 * precision
    skipped = int(np.count_nonzero(values < least))
    window = ((values >= least) & (values <= most)).nonzero()[0]
    return window, range(ranks.start - skipped, ranks.stop - skipped)

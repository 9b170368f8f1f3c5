"""The matching rows of a table in the order of their distance from a point; only what a page needs is sorted."""

import math
from typing import Final, Protocol

import numpy as np

from service.engine.bitmap import Bitmap
from service.engine.column import Rows
from service.engine.grid import BAND_HEIGHT, Places, Spans, cell_of, spans
from service.engine.locations import Locations
from service.engine.sphere import EARTH_RADIUS, Floats, Point, box_around, squared_chord

_WORD_BITS: Final = 64
_DEGREE: Final = math.radians(EARTH_RADIUS)  # metres
_MIN_RADIUS: Final = 100.0  # metres
_MAX_RADIUS: Final = math.pi / 2 * EARTH_RADIUS  # a box around more is the whole earth
_GROWTH: Final = 2.0
_EXCESS: Final = 8.0  # so many times the rows needed are worth another radius,
_TOLERANCE: Final = 1.25  # unless a radius that is smaller by this factor has too few
# A page is looked for nearby if its rows are among the nearest 1 / 8; else distances of all rows are computed.
_NEARBY_FRACTION: Final = 8


class _Located(Protocol):
    """Rows with a distance."""

    @property
    def count(self) -> int: ...

    def ranked(self, ranks: range) -> Rows: ...


class DistanceOrder:
    """Rows from the nearest to the farthest, ties by row; then the rows that are not located, ascending."""

    def __init__(self, located: _Located, others: Rows) -> None:
        self._located, self._others = located, others

    def __len__(self) -> int:
        return self._located.count + len(self._others)

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the located rows, then the others.
        """
        middle = self._located.count
        near = range(min(span.start, middle), min(span.stop, middle))
        others = self._others[::-1] if descending else self._others
        last = others[max(span.start - middle, 0) : max(span.stop - middle, 0)]
        if not near:
            return last
        if descending:
            first = self._located.ranked(range(middle - near.stop, middle - near.start))[::-1]
        else:
            first = self._located.ranked(near)
        return np.concatenate((first, last)) if len(last) else first


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
        places, chords = nearby or self._all()
        return _ranked(self._locations.order[places], chords, ranks)

    def _nearest(self, number: int) -> tuple[Places, Floats] | None:
        """Return the places of the nearest rows, at least a number of them, unless they are far away.

        The number of rows around is counted before any distance is computed: a radius with too few is enlarged, one
        with many more than needed is reduced.
        """
        expected = number * self._locations.count / self.count
        low, high = 0.0, math.inf
        radius = self._typical_radius(int(expected))
        while radius < _MAX_RADIUS:
            near = spans(self._locations.cells, box_around(self._point, radius))
            if near.count > _EXCESS * expected and radius > _TOLERANCE * low:
                high = radius
            else:
                found = self._inside(near, radius) if near.count >= expected else None
                if found is not None and len(found[0]) >= number:
                    return found
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
        if self._bitmap is None:
            return places
        octets = self._bitmap.view(np.uint8)
        bits = octets[places >> 3] >> (places & 7).astype(np.uint8) & 1
        matching: Places = places[bits.view(np.bool_)]
        return matching

    def _all(self) -> tuple[Places, Floats]:
        if self._bitmap is None:
            places = np.arange(self.count)
            return places, self._locations.squared_chords(self._point, slice(0, self.count))
        octets = self._bitmap.view(np.uint8)
        matches = np.unpackbits(octets, count=self._locations.count, bitorder="little").view(np.bool_)
        places = matches.nonzero()[0]
        return places, self._locations.squared_chords(self._point, places)


def order_rows(locations: Locations, point: Point, rows: Rows) -> DistanceOrder:
    """Return rows, ascending, in the order of their distance."""
    places = locations.places[rows]
    located = places < locations.count
    chords = locations.squared_chords(point, places[located])
    return DistanceOrder(_Listed(rows[located], chords), rows[~located])


def order_bitmap(locations: Locations, point: Point, bitmap: Bitmap) -> DistanceOrder:
    """Return the rows at the places in a bitmap in the order of their distance."""
    words, bits = divmod(locations.count, _WORD_BITS)
    tail = np.unpackbits(bitmap[words:].view(np.uint8), bitorder="little")
    others = locations.order[words * _WORD_BITS + bits + tail[bits:].nonzero()[0]]
    count = int(np.bitwise_count(bitmap).sum()) - len(others)
    return DistanceOrder(_Dense(locations, point, bitmap, count), others)


def order_all(locations: Locations, point: Point) -> DistanceOrder:
    """Return all rows in the order of their distance."""
    others = locations.order[locations.count :]
    return DistanceOrder(_Dense(locations, point, None, locations.count), others)


def _ranked(rows: Rows, chords: Floats, ranks: range) -> Rows:
    """Return the rows of some ranks by chord, ties by row; only rows that may have these ranks are sorted."""
    if len(ranks) < len(rows):
        nearest, farthest = np.partition(chords, sorted({ranks.start, ranks.stop - 1}))[[ranks.start, ranks.stop - 1]]
        window = ((chords >= nearest) & (chords <= farthest)).nonzero()[0]
        skipped = int(np.count_nonzero(chords < nearest))
        rows, chords = rows[window], chords[window]
        ranks = range(ranks.start - skipped, ranks.stop - skipped)
    return rows[np.lexsort((rows, chords))[ranks.start : ranks.stop]]

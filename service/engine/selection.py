"""The rows that a query selects: found, and in order."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from itertools import count
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, counts_before, is_set, pack, positions, ranks, unpack
from service.engine.column import Rows
from service.engine.long_work import announce

_WORD_BITS: Final = 64
_ROW_BYTES: Final = 4
# The bytes of the objects of a selection, besides its rows.
_OVERHEAD: Final = 1024
# The rows that are looked through at first, and in all before a bitmap by position in their order is made.
_FIRST_LOOK: Final = 512
_MOST_LOOKED: Final = 1 << 16
_LOOKED_PART: Final = 16  # or, of more, this part of all rows


class RowList(msgspec.Struct, frozen=True, eq=False):
    """Few rows, ascending; or in any order, with their places among the locations."""

    rows: Rows
    places: NDArray[np.intp] | None = None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        return _OVERHEAD + self.rows.nbytes


class RowBitmap(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Many rows: the bitmap of their positions in an order."""

    bitmap: Bitmap

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self._before[-1])

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        return _OVERHEAD + self.bitmap.nbytes + len(self.bitmap) * self._before.itemsize

    @property
    def is_smaller_than_list(self) -> bool:
        """Whether it takes less memory than a list of the rows."""
        return self.bitmap.nbytes < self.count * _ROW_BYTES

    def rank(self, position: int) -> int:
        """Return how many rows are before a position."""
        word, bit = divmod(position, _WORD_BITS)
        return int(self._before[word]) + (int(self.bitmap[word]) & ((1 << bit) - 1)).bit_count()

    def ranks(self, positions: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return how many rows are before each of some positions."""
        return ranks(self.bitmap, self._before, positions)

    def positions(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return the positions of the rows of some ranks, without looking at others."""
        first, end = int(self._before.searchsorted(start, "right")) - 1, int(self._before.searchsorted(stop))
        found, before = positions(self.bitmap[first:end]), int(self._before[first])
        return found[start - before : stop - before] + first * _WORD_BITS

    @cached_property
    def _before(self) -> NDArray[np.int32]:
        """How many rows are before each word of the bitmap, and in all."""
        return counts_before(self.bitmap)


class Selection(ABC):
    """Selected rows in ascending order: by the value of the sort field, ties by row, null values last.

    `total` is their number, `nbytes` the approximate memory in bytes, even of rows that are a view of the table's.
    """

    __slots__ = ("nbytes", "total")

    def __init__(self, total: int, nbytes: int) -> None:
        self.total, self.nbytes = total, nbytes

    @abstractmethod
    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the rows with a value, then the rows without one.
        """


class RankedRows(Selection):
    """A selection whose rows are known by position; `non_null_count` of them have a value."""

    __slots__ = ("_non_null_count",)

    def __init__(self, total: int, non_null_count: int, nbytes: int) -> None:
        super().__init__(total, nbytes)
        self._non_null_count = non_null_count

    @abstractmethod
    def _between(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another, none if the first is not less."""

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`."""
        if not descending:
            return self._between(span.start, span.stop)
        middle, total = self._non_null_count, self.total
        first = self._between(max(middle - span.stop, 0), max(middle - span.start, 0))[::-1]
        if span.stop <= middle:
            return first
        last = self._between(middle + total - span.stop, middle + total - max(span.start, middle))[::-1]
        return np.concatenate((first, last))


class ListedRows(RankedRows):
    """A selection as a list of its rows; `non_null_count` of them have a value in the sort field.

    If `total` is given, the list has only the first of `total` rows, and its slices are those of ascending order.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Rows, non_null_count: int, total: int | None = None) -> None:
        super().__init__(len(rows) if total is None else total, non_null_count, _OVERHEAD + rows.nbytes)
        self.rows = rows

    def reaches(self, stop: int | None) -> bool:
        """Return whether it has all rows up to a position, or all in any order if that is None."""
        return len(self.rows) == self.total or (stop is not None and stop <= len(self.rows))

    def _between(self, start: int, stop: int) -> Rows:
        return self.rows[start:stop]


class MarkedRows(RankedRows):
    """A selection as the bitmap of its positions in the order of all rows, of which `non_null_count` have a value."""

    __slots__ = ("_found", "_order")

    def __init__(self, found: RowBitmap, order: Rows, non_null_count: int) -> None:
        super().__init__(found.count, found.rank(non_null_count), found.nbytes)
        self._found, self._order = found, order

    def _between(self, start: int, stop: int) -> Rows:
        return self._order.take(self._found.positions(start, stop))


class ScannedRows(Selection):
    """A selection as the bitmap of its rows: those of a page are looked for in the order of all, from the nearer end.

    `non_null_count` of all rows have a value in the sort field. A page that is far from both ends needs the bitmap of
    positions in the order, which takes milliseconds of a million rows.
    """

    __slots__ = ("_found", "_marked", "_non_null_count", "_order")

    def __init__(self, found: RowBitmap, order: Rows, non_null_count: int) -> None:
        super().__init__(found.count, 2 * found.nbytes)
        self._found, self._order, self._non_null_count = found, order, non_null_count
        self._marked: MarkedRows | None = None

    def marked(self) -> MarkedRows:
        """Return the same selection as a bitmap of positions in the order."""
        if self._marked is None:
            announce(len(self._order))
            by_row = unpack(self._found.bitmap, len(self._order))
            self._marked = MarkedRows(RowBitmap(pack(by_row.take(self._order))), self._order, self._non_null_count)
        return self._marked

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`."""
        rows = self._scanned(span, descending=descending) if self._marked is None else None
        return self.marked().slice(span, descending=descending) if rows is None else rows

    def _scanned(self, span: range, *, descending: bool) -> Rows | None:
        """Return the rows at the positions in `span`, None if too many others would have to be looked through."""
        valued, others = self._order[: self._non_null_count], self._order[self._non_null_count :]
        parts = (valued[::-1], others[::-1]) if descending else (valued, others)
        if span.stop <= self.total - span.start:
            rows = self._first(parts, span.stop)
            return None if rows is None else rows[span.start : span.stop]
        first, last = parts
        rows = self._first((last[::-1], first[::-1]), self.total - span.start)
        return None if rows is None else rows[self.total - span.stop : self.total - span.start][::-1]

    def _first(self, parts: Iterable[Rows], number: int) -> Rows | None:
        """Return the first rows of the selection in parts of an order, at least a number; None if they are far."""
        looked, most, found = 0, max(_MOST_LOOKED, len(self._order) // _LOOKED_PART), list[Rows]()
        size = _FIRST_LOOK + 2 * number * len(self._order) // (self.total + 1)
        for part in parts:
            for start in count(0, size):
                if number <= 0 or start >= len(part):
                    break
                if (looked := looked + size) > most:
                    return None
                announce(size)
                rows = part[start : start + size]
                found.append(rows[is_set(self._found.bitmap, rows)])
                number -= len(found[-1])
        return np.concatenate([*found, self._order[:0]])

"""Bitmaps, and the rows that a query selects, in an order."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import LOOKED_UP, spend

Bitmap = NDArray[np.uint64]
_WORD_SHIFT: Final = 6
_BIT: Final = 63
_ONE, _LAST = np.uint64(1), np.uint64(_BIT)
_BYTE_SHIFT: Final = 3
_BYTE_BIT: Final = 7
# If fewer than one word in this many has a bit set, the others are skipped.
_SPARSE: Final = 4
# If at most one bit in this many is set, NumPy looks for each, which takes several times as long: then, of many words,
# bytes without any are skipped, too.
_FEW_BITS: Final = 10
_MANY_WORDS: Final = 512
# If a condition matches less than 1 / 64 of the rows, intersecting lists of rows and sorting is cheaper.
_DENSE: Final = 64


def least_dense(length: int) -> int:
    """Return how many positions out of `length` are the fewest whose bitmap is cheaper than their list."""
    return -(-length // _DENSE) if length > _DENSE else length + 1


def word_count(length: int) -> int:
    """Return the number of words of a bitmap of `length` positions."""
    return (length >> _WORD_SHIFT) + 1


def pack(mask: NDArray[np.bool_]) -> Bitmap:
    """Return a mask as a bitmap of 64-bit words, position 0 in the lowest bit; at least one bit past the end, all 0."""
    data = np.packbits(mask, bitorder="little")
    words = np.zeros(word_count(len(mask)), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


def unpack(bitmap: Bitmap, count: int) -> NDArray[np.bool_]:
    """Return a bitmap as a mask of some positions."""
    return np.unpackbits(bitmap.view(np.uint8), count=count, bitorder="little").view(np.bool_)


def count(bitmap: Bitmap) -> int:
    """Return how many bits are set."""
    return int(np.bitwise_count(bitmap).sum())


def bit_positions(bitmap: Bitmap) -> NDArray[np.intp]:
    """Return the positions of the bits that are set, ascending."""
    words = bitmap.nonzero()[0]
    if len(words) > _MANY_WORDS and count(bitmap) * _FEW_BITS <= len(bitmap) << _WORD_SHIFT:
        return _positions_by_byte(bitmap.view(np.uint8))
    if len(words) * _SPARSE > len(bitmap):
        return _positions(bitmap.view(np.uint8))
    hits = _positions(bitmap.take(words).view(np.uint8))
    return (words << _WORD_SHIFT).take(hits >> _WORD_SHIFT) + (hits & _BIT)


def _positions_by_byte(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    used = (data != 0).nonzero()[0]
    bits = _positions(data.take(used))
    firsts: NDArray[np.intp] = (used << _BYTE_SHIFT).take(bits >> _BYTE_SHIFT)
    return firsts + (bits & _BYTE_BIT)


def _positions(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    return np.unpackbits(data, bitorder="little").view(np.bool_).nonzero()[0]


def edges_of_runs(bitmap: Bitmap) -> Bitmap:
    """Return the positions at which runs of bits that are set begin, and those after their ends."""
    before = bitmap << _ONE
    before[1:] |= bitmap[:-1] >> _LAST
    return bitmap ^ before


def is_set(bitmap: Bitmap, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return for each position whether its bit is set."""
    data = bitmap.view(np.uint8)
    bits = data.take(positions >> _BYTE_SHIFT) >> (positions & _BYTE_BIT).astype(np.uint8) & np.uint8(1)
    return bits.view(np.bool_)


_ROW_BYTES: Final = 4
# The bytes of the objects of a selection, besides its rows.
_OVERHEAD: Final = 1024
# The rows that are looked through at first, and in all before a bitmap by position in their order is made.
_FIRST_LOOK: Final = 512
_MOST_LOOKED: Final = 1 << 16
_LOOKED_PART: Final = 16  # or, of more, this part of all rows
_PARTITIONED: Final = 8  # rows are partitioned in the time of looking at one


class Selection:
    """Selected rows in ascending order: by the value of the sort field, ties by row, null values last.

    total           their number
    non_null_count  how many of them have a value
    nbytes          the approximate memory in bytes, even of rows that are a view of the table's
    """

    __slots__ = ("nbytes", "non_null_count", "total")

    def __init__(self, total: int, non_null_count: int, nbytes: int) -> None:
        self.total, self.non_null_count, self.nbytes = total, non_null_count, _OVERHEAD + nbytes

    @abstractmethod
    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another, none if the first is not less."""

    def valued(self) -> int:
        """Return how many of the rows have a value."""
        return self.non_null_count

    def whole(self) -> "Selection":
        """Return the same rows in a form from which many slices are taken."""
        return self

    def descending(self, start: int, stop: int) -> Rows:
        """Return the same of descending order, which reverses the rows with a value, then the rows without one."""
        middle, total = self.valued(), self.total
        first = self.slice(max(middle - stop, 0), max(middle - start, 0))[::-1]
        if stop <= middle:
            return first
        return np.concatenate((first, self.slice(middle + total - stop, middle + total - max(start, middle))[::-1]))


class RowList(Selection):
    """A list of all rows, or of the first of `total`: then its slices are those of ascending order, up to there.

    `metres` are the distances of the first rows, if their order is that of the distance.
    """

    __slots__ = ("metres", "rows")

    def __init__(self, rows: Rows, non_null_count: int, total: int | None = None, metres: Sequence[float] = ()) -> None:
        self.rows, self.metres = rows, metres
        self.total = len(rows) if total is None else total
        self.non_null_count, self.nbytes = non_null_count, _OVERHEAD + rows.nbytes

    def reaches(self, stop: int | None) -> bool:
        """Return whether it has all rows up to a position, or all in any order if that is None."""
        return len(self.rows) == self.total or (stop is not None and stop <= len(self.rows))

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another."""
        return self.rows[start:stop]


class RowsByNumber(RowList):
    """A list in the default order: those that are among the first `valued_count` of all rows have a value."""

    __slots__ = ("_valued_count",)

    def __init__(self, rows: Rows, valued_count: int) -> None:
        self.rows, self.metres, self.total, self._valued_count = rows, (), len(rows), valued_count
        self.nbytes = _OVERHEAD + rows.nbytes

    def valued(self) -> int:
        """Return how many of the rows have a value."""
        return int(self.rows.searchsorted(np.int32(self._valued_count)))  # a Python integer would convert all rows


class UnsortedRows(Selection):
    """Many rows of the default order in any other: those of a page are found without sorting all.

    The first `valued_count` of all rows have a value.
    """

    __slots__ = ("_rows", "_valued_count")

    def __init__(self, rows: Rows, valued_count: int) -> None:
        super().__init__(len(rows), 0, rows.nbytes)
        self._rows, self._valued_count = rows, valued_count

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another."""
        if start >= stop:
            return self._rows[:0]
        spend(self.total // _PARTITIONED)
        bound = min(_FIRST_LOOK + 2 * stop * self._valued_count // self.total, self._valued_count)
        rows = self._rows[self._rows < bound]  # in which a page is, if the rows are as dense at the beginning
        rows = np.partition(rows if len(rows) >= stop else self._rows, stop - 1)[:stop]
        return np.sort(np.partition(rows, start)[start:])

    def whole(self) -> RowList:
        """Return the same rows as a list."""
        spend(self.total)
        return RowsByNumber(np.sort(self._rows), self._valued_count)

    def valued(self) -> int:
        """Return how many of the rows have a value."""
        return int(np.count_nonzero(self._rows < self._valued_count))


class RowBitmap(Selection):
    """Many rows: the bitmap of their positions in an order of all rows, of which `non_null_count` have a value."""

    __slots__ = ("_before", "_order", "bitmap")

    def __init__(self, bitmap: Bitmap, order: Rows, non_null_count: int) -> None:
        self.bitmap, self._order = bitmap, order
        # how many rows are before each word, and in all
        self._before = np.append(np.int32(0), np.bitwise_count(bitmap).cumsum(dtype=np.int32))
        super().__init__(int(self._before[-1]), self.rank(non_null_count), bitmap.nbytes + self._before.nbytes)

    @property
    def is_smaller_than_list(self) -> bool:
        """Whether it takes less memory than a list of the rows."""
        return self.bitmap.nbytes < self.total * _ROW_BYTES

    def whole(self) -> "RowBitmap":
        """Return itself, as a scan returns the same rows."""
        return self

    def has(self, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return for each of some positions whether its row is selected."""
        return is_set(self.bitmap, positions)

    def rank(self, position: int) -> int:
        """Return how many rows are before a position."""
        word, bit = position >> _WORD_SHIFT, position & _BIT
        return int(self._before[word]) + (int(self.bitmap[word]) & ((1 << bit) - 1)).bit_count()

    def ranks(self, positions: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return how many rows are before each of some positions."""
        words, bits = positions >> _WORD_SHIFT, (positions & _BIT).astype(np.uint64)
        lower = (_ONE << bits) - _ONE  # the bits of a word below a position
        return self._before.take(words) + np.bitwise_count(self.bitmap.take(words) & lower)

    def positions(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return the positions of the rows of some ranks, without looking at others."""
        before = self._before.searchsorted
        first, end = int(before(np.int32(start), "right")) - 1, int(before(np.int32(stop)))
        hits, rank = bit_positions(self.bitmap[first:end]), int(self._before[first])
        return hits[start - rank : stop - rank] + (first << _WORD_SHIFT)

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one rank to another."""
        return self._order.take(self.positions(start, stop))


class ScannedRows(Selection):
    """Many rows by number: those of a page are looked for in another order of all rows, from the nearer end.

    `valued_count` of all rows have a value there. A page that is far from both ends needs the bitmap of positions in
    the order, which takes milliseconds of a million rows.
    """

    __slots__ = ("_bitmap", "_marked", "_order", "_valued", "_valued_count")

    def __init__(self, matches: RowBitmap, order: Rows, valued_count: int) -> None:
        super().__init__(matches.total, 0, 2 * matches.nbytes)
        self._bitmap, self._order, self._valued_count = matches.bitmap, order, valued_count
        self._marked: RowBitmap | None = None
        self._valued: int | None = None

    def valued(self) -> int:
        """Return how many of the rows have a value."""
        if self._valued is None:
            nulls = self._order[self._valued_count :]
            spend(len(nulls) // LOOKED_UP)
            self._valued = self.total - int(np.count_nonzero(is_set(self._bitmap, nulls)))
        return self._valued

    def has(self, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return for each of some positions in the order whether its row is selected."""
        return (
            is_set(self._bitmap, self._order.take(positions)) if self._marked is None else self._marked.has(positions)
        )

    def whole(self) -> RowBitmap:
        """Return the same rows as a bitmap of positions in the order; of a million rows it takes milliseconds."""
        if self._marked is None:
            spend(len(self._order) // LOOKED_UP)
            mask = unpack(self._bitmap, len(self._order)).take(self._order)
            self._marked = RowBitmap(pack(mask), self._order, self._valued_count)
        return self._marked

    def slice(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another."""
        rows = self._scanned(start, stop, self._order[: self._valued_count], self._order[self._valued_count :])
        return self.whole().slice(start, stop) if rows is None else rows

    def descending(self, start: int, stop: int) -> Rows:
        """Return the same of descending order."""
        valued, nulls = self._order[: self._valued_count], self._order[self._valued_count :]
        rows = self._scanned(start, stop, valued[::-1], nulls[::-1])
        return self.whole().descending(start, stop) if rows is None else rows

    def _scanned(self, start: int, stop: int, *parts: Rows) -> Rows | None:
        """Return the rows at some positions in parts of the order, None if too many would have to be looked through."""
        if self._marked is not None:
            return None
        if stop <= self.total - start:
            rows = self._first(parts, stop)
            return None if rows is None else rows[start:stop]
        rows = self._first((part[::-1] for part in reversed(parts)), self.total - start)
        return None if rows is None else rows[self.total - stop : self.total - start][::-1]

    def _first(self, parts: Iterable[Rows], number: int) -> Rows | None:
        """Return the first rows of the selection in parts of an order, at least a number; None if they are far."""
        looked, most, hits = 0, max(_MOST_LOOKED, len(self._order) // _LOOKED_PART), list[Rows]()
        size = _FIRST_LOOK + 2 * number * len(self._order) // (self.total + 1)
        for part in parts:
            for start in range(0, len(part), size):
                if number <= 0:
                    break
                if (looked := looked + size) > most:
                    return None
                spend(size // LOOKED_UP)
                rows = part[start : start + size]
                hits.append(rows[is_set(self._bitmap, rows)])
                number -= len(hits[-1])
        return np.concatenate([*hits, self._order[:0]])


ManyRows = RowBitmap | ScannedRows

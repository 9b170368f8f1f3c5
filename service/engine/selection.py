"""The rows that a query selects: found, and in order."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, counts_before, positions, ranks
from service.engine.column import Rows

_WORD_BITS: Final = 64
_ROW_BYTES: Final = 4
# The bytes of the objects of a selection, besides its rows.
_OVERHEAD: Final = 1024


class RowList(msgspec.Struct, frozen=True, eq=False):
    """Few rows, ascending."""

    rows: Rows

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

    __slots__ = ("_non_null_count", "nbytes", "total")

    def __init__(self, total: int, non_null_count: int, nbytes: int) -> None:
        self.total, self.nbytes = total, nbytes
        self._non_null_count = non_null_count

    @abstractmethod
    def _between(self, start: int, stop: int) -> Rows:
        """Return the rows from one position to another, none if the first is not less."""

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the rows with a value, then the rows without one.
        """
        if not descending:
            return self._between(span.start, span.stop)
        middle, total = self._non_null_count, self.total
        first = self._between(max(middle - span.stop, 0), max(middle - span.start, 0))[::-1]
        if span.stop <= middle:
            return first
        last = self._between(middle + total - span.stop, middle + total - max(span.start, middle))[::-1]
        return np.concatenate((first, last))


class ListedRows(Selection):
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


class MarkedRows(Selection):
    """A selection as the bitmap of its positions in the order of all rows, of which `non_null_count` have a value."""

    __slots__ = ("_found", "_order")

    def __init__(self, found: RowBitmap, order: Rows, non_null_count: int) -> None:
        super().__init__(found.count, found.rank(non_null_count), found.nbytes)
        self._found, self._order = found, order

    def _between(self, start: int, stop: int) -> Rows:
        return self._order.take(self._found.positions(start, stop))

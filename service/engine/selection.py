"""The rows that a query selects: found, and in order."""

from typing import Final

import msgspec
import numpy as np

from service.engine.bitmap import Bitmap
from service.engine.column import Rows

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


class RowBitmap(msgspec.Struct, frozen=True, eq=False):
    """Many rows: the bitmap of their positions in an order."""

    bitmap: Bitmap

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(np.bitwise_count(self.bitmap).sum())

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        return _OVERHEAD + self.bitmap.nbytes


class Selection:
    """Selected rows in ascending order: by the value of the sort field, ties by row, null values last.

    `non_null_count` is the number of rows with a value in the sort field. `total` is that of all rows.
    """

    __slots__ = ("_non_null_count", "rows", "total")

    def __init__(self, rows: Rows, non_null_count: int) -> None:
        self.rows, self.total = rows, len(rows)
        self._non_null_count = non_null_count

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes, even if the rows are a view of the table's."""
        return _OVERHEAD + self.rows.nbytes

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the rows with a value, then the rows without one.
        """
        rows, middle, total = self.rows, self._non_null_count, self.total
        if not descending:
            return rows[span.start : span.stop]
        first = rows[max(middle - span.stop, 0) : max(middle - span.start, 0)][::-1]
        if span.stop <= middle:
            return first
        last = rows[middle + total - span.stop : middle + total - max(span.start, middle)][::-1]
        return np.concatenate((first, last))

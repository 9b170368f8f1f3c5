"""The rows that a query selects, in order."""

from typing import Final

import msgspec
import numpy as np

from service.engine.column import Rows

# The bytes of the objects of a selection, besides its rows.
_OVERHEAD: Final = 1024


class Selection(msgspec.Struct, frozen=True, eq=False):
    """Selected rows in ascending order: by the value of the sort field, ties by row, null values last.

    `non_null_count` is the number of rows with a value in the sort field.
    """

    rows: Rows
    non_null_count: int

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes, even if the rows are a view of the table's."""
        return _OVERHEAD + self.rows.nbytes

    def slice(self, span: range, *, descending: bool) -> Rows:
        """Return the rows at the positions in `span`.

        Descending order reverses the rows with a value, then the rows without one.
        """
        rows, middle, total = self.rows, self.non_null_count, len(self.rows)
        if not descending:
            return rows[span.start : span.stop]
        first = rows[max(middle - span.stop, 0) : max(middle - span.start, 0)][::-1]
        if span.stop <= middle:
            return first
        last = rows[middle + total - span.stop : middle + total - max(span.start, middle)][::-1]
        return np.concatenate((first, last))

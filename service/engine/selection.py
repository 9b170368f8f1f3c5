"""The rows that a query selects, in order."""

from typing import Final

import msgspec

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

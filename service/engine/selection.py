"""The rows that a query selects, in order."""

from typing import Final

import msgspec

from service.engine.column import Rows

# The objects of a selection, whatever is in it.
_OVERHEAD: Final = 1024


class Selection(msgspec.Struct, frozen=True, eq=False):
    """Selected rows, `ordered` ascending: by the value in a field, ties by row, those without a value last.

    `valued` is how many of them have a value.
    """

    ordered: Rows
    valued: int

    @property
    def nbytes(self) -> int:
        """How many bytes it holds, about; also where the rows are a part of those of the table."""
        return _OVERHEAD + self.ordered.nbytes

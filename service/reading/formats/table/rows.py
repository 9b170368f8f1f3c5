"""Rows of texts, as they are read from a file."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

Row: TypeAlias = Sequence[str]


class Rows(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of a file, including empty ones.

    lines      the line of the file on which each row begins, of a sheet its row
    done       how much of the file has been read after them, in the unit of `TableFile.total`
    malformed  the index of each row that cannot be read, which has no cells, and why
    """

    rows: Sequence[Row]
    lines: Sequence[int]
    done: int = 0
    malformed: Mapping[int, str] = {}

    def after(self, index: int) -> "Rows":
        """Return the rows after the one at an index."""
        start = index + 1
        malformed = {each - start: why for each, why in self.malformed.items() if each >= start}
        return Rows(self.rows[start:], self.lines[start:], self.done, malformed)

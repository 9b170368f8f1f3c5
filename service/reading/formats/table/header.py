"""The header of a table: names of columns, and the rows that fit them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from service.reading.batches.diagnostics import FileError
from service.reading.fields.field_names import MAX_UNUSED
from service.reading.formats.table.rows import Row, Rows
from service.texts import truncate

NO_VALUE: Final = ""


class Header(msgspec.Struct, frozen=True):
    """The names of the columns, without empty ones at the end; the number of cells in the row, and its line.

    A mapping may name the columns of a table that has no such row.
    """

    names: Sequence[str]
    width: int
    line: int | None = None

    def accepts(self, row: Row) -> bool:
        """Return whether a row has a cell for each name, and no value beyond the cells of the header."""
        return len(self.names) <= len(row) and (len(row) <= self.width or not any(row[self.width :]))

    def count_unnamed(self, rows: Iterable[Row]) -> int:
        """Return the number of rows with a value after the columns with names."""
        named = len(self.names)
        return 0 if named == self.width or NO_VALUE in self.names else sum(any(row[named:]) for row in rows)


def split_header(rows: Iterator[Rows]) -> tuple[Header, Rows]:
    """Return the header, the first row with a value, and the rows read with it, below it. Raises FileError."""
    for read in rows:
        for index, row in enumerate(read.rows):
            if index in read.malformed:
                raise FileError(read.malformed[index], read.lines[index])
            if any(row):
                return _parse_header(row, read.lines[index]), read.after(index)
    raise FileError("the file is empty: a header line is required")


def _parse_header(row: Row, line: int) -> Header:
    if duplicates := [name for name, number in Counter(row).items() if number > 1 and name != NO_VALUE]:
        shown = ", ".join(repr(truncate(name)) for name in duplicates[:MAX_UNUSED])
        raise FileError(f"duplicate columns: {shown}: rename them", line)
    last = next(index for index in reversed(range(len(row))) if row[index])
    return Header(row[: last + 1], len(row), line)

"""Read the rows of CSV texts (RFC 4180, with any line ending and delimiter)."""

import csv
import re
from collections.abc import Sequence
from io import TextIOWrapper
from itertools import accumulate, islice
from typing import Final

from service.files.mapped_bytes import FileBytes, open_bytes
from service.reading.batches.diagnostics import FileError
from service.reading.formats.table.rows import Rows

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_MAX_CELL: Final = 2**31 - 1  # the maximum of the csv module on every platform; cells cannot exceed the file


class RowStream:
    """Reads the rows of a CSV text, from the one that begins at the offset `start` on the line `line`."""

    def __init__(self, text: FileBytes, delimiter: str, *, start: int = 0, line: int = 1) -> None:
        csv.field_size_limit(_MAX_CELL)
        self._bytes, self._line = open_bytes(text, start), line
        lines = TextIOWrapper(self._bytes, "utf-8", newline="")
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def read(self, size: int) -> Rows:
        """Return the next rows, none at the end. Raises FileError."""
        rows: list[list[str]] = []
        first = self._line + self._reader.line_num
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as error:
            line = first + sum(map(_count_lines, rows))
            raise FileError(f"the record that begins here is not valid CSV: {error}", line) from None
        stop = self._line + self._reader.line_num
        one_each = stop - first == len(rows)  # nearly always: no cell has a line break
        lines = range(first, stop) if one_each else list(accumulate(map(_count_lines, rows[:-1]), initial=first))
        return Rows(rows, lines, done=self._bytes.tell())


def _count_lines(row: Sequence[str]) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

"""Read the rows of CSV texts (RFC 4180, with any line ending and delimiter)."""

import csv
import re
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from itertools import accumulate, islice
from typing import Final, TypeAlias

import msgspec

from service.reading.batches.diagnostics import FileError

Row: TypeAlias = list[str]
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_MAX_CELL: Final = 2**31 - 1  # the maximum of the csv module on every platform; cells cannot exceed the file


class Rows(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of a file, including empty ones; the line on which each begins, and the line after the last."""

    rows: Sequence[Row]
    lines: Sequence[int]

    @property
    def line(self) -> int:
        """The line on which the first row begins."""
        return self.lines[0]


class RowStream:
    """Reads the rows of a CSV text, from the one that begins at the offset `start` on the line `line`."""

    def __init__(self, text: bytes, delimiter: str, *, start: int = 0, line: int = 1) -> None:
        csv.field_size_limit(_MAX_CELL)
        self._bytes, self._line = BytesIO(text), line
        self._bytes.seek(start)
        lines = TextIOWrapper(self._bytes, "utf-8", newline="")
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    @property
    def done(self) -> int:
        """The number of bytes read."""
        return self._bytes.tell()

    def read(self, size: int) -> Rows:
        """Return the next rows, none at the end. Raises FileError."""
        rows: list[Row] = []
        first = self._line + self._reader.line_num
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as error:
            line = first + sum(map(_count_lines, rows))
            raise FileError(f"the record that begins here is not valid CSV: {error}", line) from None
        stop = self._line + self._reader.line_num
        if stop - first == len(rows):  # nearly always: no cell has a line break
            return Rows(rows, range(first, stop + 1))
        return Rows(rows, list(accumulate(map(_count_lines, rows), initial=first)))


def _count_lines(row: Row) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

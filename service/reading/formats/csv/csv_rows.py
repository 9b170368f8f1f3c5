"""Read the rows of CSV texts (RFC 4180, with any line ending and delimiter)."""

import csv
import re
from collections.abc import Sequence
from io import TextIOWrapper
from itertools import accumulate, islice
from typing import Final, Literal

from service.files.mapped_bytes import FileBytes, open_bytes
from service.reading.formats.table.rows import Rows

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)")
_MAX_CELL: Final = 2**31 - 1  # the maximum of the csv module on every platform; cells cannot exceed the file
_UNCLOSED: Final = "unexpected end of data"  # what the csv module says of a quote that is not closed
_IF_ORDINARY: Final = 'if quotes are ordinary characters, declare quote = "" in mapping.toml'


class RowStream:
    """Reads the rows of a CSV text, from the one that begins at the offset `start` on the line `line`.

    A row that is not valid CSV ends with its first line: what follows is read as if it were valid.

    unclosed  the line of the last row with a quote that is not closed before the end of the text; 0 if there is none
    """

    def __init__(self, text: FileBytes, delimiter: str, *, quotes: bool = True, start: int = 0, line: int = 1) -> None:
        csv.field_size_limit(_MAX_CELL)
        self._text, self._delimiter, self.unclosed = text, delimiter, 0
        self._quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._open(line, start)

    def read(self, size: int) -> Rows:
        """Return the next rows, none at the end."""
        read = self._read(size)
        if not read.malformed:
            return read
        rows, lines, malformed = list(read.rows), list(read.lines), dict(read.malformed)
        while len(rows) < size and (read := self._read(size - len(rows))).rows:
            malformed |= {len(rows) + index: why for index, why in read.malformed.items()}
            rows += read.rows
            lines += read.lines
        return Rows(rows, lines, self._bytes.tell(), malformed)

    def _open(self, line: int, start: int) -> None:
        self._line, self._start, self._bytes = line, start, open_bytes(self._text, start)
        lines = TextIOWrapper(self._bytes, "utf-8", newline="")
        self._reader = csv.reader(lines, delimiter=self._delimiter, quoting=self._quoting, strict=True)

    def _read(self, size: int) -> Rows:
        """Return the next rows, up to one that is not valid."""
        rows: list[list[str]] = []
        first = self._line + self._reader.line_num
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as error:
            lines = list(accumulate(map(_count_lines, rows), initial=first))
            return self._skip(Rows([*rows, []], lines), str(error))
        stop = self._line + self._reader.line_num
        one_each = stop - first == len(rows)  # nearly always: no cell has a line break
        numbers = range(first, stop) if one_each else list(accumulate(map(_count_lines, rows[:-1]), initial=first))
        return Rows(rows, numbers, done=self._bytes.tell())

    def _skip(self, read: Rows, error: str) -> Rows:
        """Continue below the line on which the last row begins; return the rows with its error."""
        line = read.lines[-1]
        if error == _UNCLOSED:
            self.unclosed = line
        ends = islice(_LINE.finditer(self._text, self._start), line - self._line, None)
        self._open(line + 1, next((end.end() for end in ends), len(self._text)))
        why = f"the record that begins here is not valid CSV: {error}; {_IF_ORDINARY}"
        return Rows(read.rows, read.lines, malformed={len(read.rows) - 1: why})


def _count_lines(row: Sequence[str]) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

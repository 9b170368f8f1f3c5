"""Read the rows of CSV texts (RFC 4180, with any line ending and delimiter)."""

import csv
import re
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper
from itertools import accumulate, islice
from typing import Final, Literal

from service.files.mapped_bytes import FileBytes, open_bytes
from service.reading.formats.table.rows import Rows

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
LINE_END: Final = re.compile(rb"\r\n?|\n")
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
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._parse = partial(csv.reader, delimiter=delimiter, quoting=quoting, strict=True)
        self._text, self.unclosed, self._quoted, self._error = text, 0, 0, ""
        self._open(line, start)

    def read(self, size: int) -> Rows:
        """Return the next rows, none at the end."""
        read = self._read(size)
        if len(read.rows) == size:
            return read
        rows, lines, malformed = list(read.rows), list(read.lines), dict(read.malformed)
        while len(rows) < size and (read := self._read(size - len(rows))).rows:
            malformed |= {len(rows) + index: why for index, why in read.malformed.items()}
            rows += read.rows
            lines += read.lines
        return Rows(rows, lines, self._bytes.tell(), malformed)

    def _open(self, line: int, start: int) -> None:
        self._line, self._start, self._bytes = line, start, open_bytes(self._text, start)
        self._lines = TextIOWrapper(self._bytes, "utf-8", newline="")
        self._reader = self._parse(self._lines)

    def _read(self, size: int) -> Rows:
        """Return the next rows, up to one that is not valid."""
        if self._quoted:
            return self._read_lines(min(size, self._quoted))
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
        self._quoted, self._error = max(0, self._line + self._reader.line_num - line - 2), error
        ends = islice(LINE_END.finditer(self._text, self._start), line - self._line, None)
        self._open(line + 1, next((end.end() for end in ends), len(self._text)))
        return Rows(read.rows, read.lines, malformed={len(read.rows) - 1: self._describe(error, line)})

    def _read_lines(self, size: int) -> Rows:
        """Return lines between the first and the last one of the row with the last error, each as a row.

        These begin within a quote of that row. So does what follows one that opens a quote: it comes to the same error,
        and is not read again.
        """
        rows: list[list[str]] = []
        malformed = {}
        lines = list(islice(self._lines, size))
        for number, line in enumerate(lines, self._line):
            try:
                rows += self._parse([line])
            except csv.Error as error:
                malformed[len(rows)] = self._describe(self._error if str(error) == _UNCLOSED else str(error), number)
                rows.append([])
        numbers = range(self._line, self._line + size)
        self._line, self._start = numbers.stop, self._start + sum(len(line.encode()) for line in lines)
        self._quoted -= size
        return Rows(rows, numbers, self._bytes.tell(), malformed)

    def _describe(self, error: str, line: int) -> str:
        if error == _UNCLOSED:
            self.unclosed = line
        return f"the record that begins here is not valid CSV: {error}; {_IF_ORDINARY}"


def _count_lines(row: Sequence[str]) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

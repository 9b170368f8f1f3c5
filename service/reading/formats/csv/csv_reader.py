"""Read CSV files: records by the columns of the header."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from service.files.mapped_bytes import FileBytes
from service.reading.batches.batch import BATCH_SIZE
from service.reading.batches.diagnostics import FileError
from service.reading.formats.csv.csv_rows import RowStream
from service.reading.formats.csv.dialect import (
    COMMA,
    DELIMITERS,
    find_delimiter,
    is_delimiter,
    separator_line,
    skip_blank_rows,
)
from service.reading.formats.table.missing_header import find_data
from service.reading.formats.table.rows import Row, Rows
from service.reading.formats.table.table_file import Finds, TableFile, finds_nothing
from service.reading.text.decompression import count_line_breaks
from service.texts import truncate

_LINE_ENDS: Final = (b"\n", b"\r")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)")
_INSERT_HEADER: Final = "insert a header line above it, with the names of the columns"


class CsvFile(TableFile):
    """A CSV text with a known delimiter."""

    def __init__(self, text: FileBytes, delimiter: str, assumed: Sequence[str] = ()) -> None:
        """Read the header. Raises FileError."""
        self._text, self.delimiter, self.total = text, delimiter, len(text)
        self._start = _skip_to_header(text, delimiter)
        self._first_line = 1 + count_line_breaks(text, 0, self._start)
        super().__init__(assumed)

    def _rows(self) -> Iterator[Rows]:
        stream = RowStream(self._text, self.delimiter, start=self._start, line=self._first_line)
        size = 1  # the header, which may be all that is needed
        while (read := stream.read(size)).rows:
            yield read
            size = BATCH_SIZE

    def _check_last(self, row: Row, line: int) -> None:
        if len(row) < self._header.width and not self._text.endswith(_LINE_ENDS):
            raise FileError("the last record is truncated", line)


def open_csv(content: FileBytes, *, delimiter: str | None = None, finds: Finds = finds_nothing) -> CsvFile:
    """Return a CSV text with its delimiter: as declared, else as its first line says, else as its header shows.

    Raises FileError.
    """
    if delimiter is not None and not is_delimiter(delimiter):
        raise FileError(f"{delimiter!r} cannot be a delimiter")
    declared = delimiter or separator_line(content)
    try:
        file = _open_undeclared(content, finds) if declared is None else CsvFile(content, declared)
    except FileError:
        _check_header(content, DELIMITERS if declared is None else [declared])
        raise
    if not finds(file.names):
        _check_header(content, [file.delimiter])
    return file


def _open_undeclared(content: FileBytes, finds: Finds) -> CsvFile:
    found = find_delimiter(content, partial(_finds, content, finds))
    return CsvFile(content, found, [] if found == COMMA else [DELIMITERS[found]])


def _check_header(text: FileBytes, delimiters: Iterable[str]) -> None:
    """Raise FileError if the first row of a text has data instead of names, with one of some delimiters."""
    for delimiter in delimiters:
        start = _skip_to_header(text, delimiter)
        rows: Sequence[Row] = ()
        with suppress(FileError):
            rows = RowStream(text, delimiter, start=start).read(BATCH_SIZE).rows
        if rows and (value := find_data(rows[0], rows[1:])) is not None:
            why = f"the first line looks like data ({truncate(value)!r}): {_INSERT_HEADER}"
            raise FileError(why, 1 + count_line_breaks(text, 0, start))


def _finds(text: FileBytes, finds: Finds, delimiter: str) -> bool:
    try:
        return finds(CsvFile(text, delimiter).names)
    except FileError:
        return False


def _skip_to_header(text: FileBytes, delimiter: str) -> int:
    """Return the offset after a line that declares the delimiter, and after blank rows: there may be millions."""
    line = _LINE.match(text) if separator_line(text) else None
    encoded = delimiter.encode()
    return skip_blank_rows(text, encoded if len(encoded) == 1 else b"", line.end() if line else 0)

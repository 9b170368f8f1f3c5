"""Read CSV files: records by the columns of the header."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import compress, islice
from typing import Final

import msgspec

from service.files.mapped_bytes import FileBytes
from service.reading.batches.batch import BATCH_SIZE
from service.reading.batches.diagnostics import FileError
from service.reading.formats.csv.csv_rows import LINE_END, RowStream
from service.reading.formats.csv.dialect import (
    COMMA,
    DELIMITERS,
    find_delimiter,
    is_delimiter,
    separator_line,
    skip_blank_rows,
)
from service.reading.formats.table.missing_header import check_names
from service.reading.formats.table.rows import Row, Rows
from service.reading.formats.table.table_file import Finds, TableFile, finds_nothing
from service.reading.formats.table.table_options import NO_OPTIONS, TableOptions
from service.reading.text.decompression import count_line_breaks
from service.texts import counted

_LINE_ENDS: Final = (b"\n", b"\r")
_TRUNCATED: Final = "the record that begins here is truncated, or a quote in it is not closed"


class _CsvText(msgspec.Struct, frozen=True):
    """A CSV text whose delimiter may be unknown, and the offset at which the lines that are skipped end."""

    text: FileBytes
    options: TableOptions
    start: int = 0

    def rows(self, delimiter: str) -> RowStream:
        """Return the rows, from the first that is not blank; blank ones may be millions."""
        declared = LINE_END.search(self.text, self.start) if separator_line(self.text, self.start) else None
        encoded = delimiter.encode()
        begin = declared.end() if declared else self.start
        start = skip_blank_rows(self.text, encoded if len(encoded) == 1 else b"", begin)
        line = 1 + count_line_breaks(self.text, 0, start)
        return RowStream(self.text, delimiter, quotes=self.options.quotes, start=start, line=line)


class CsvFile(TableFile):
    """A CSV text with a known delimiter."""

    def __init__(self, text: _CsvText, delimiter: str, assumed: Sequence[str] = ()) -> None:
        """Read the header. Raises FileError."""
        self._text, self.delimiter, self.total = text, delimiter, len(text.text)
        super().__init__(assumed, text.options)

    def _rows(self) -> Iterator[Rows]:
        stream, complete = self._text.rows(self.delimiter), 0
        size = BATCH_SIZE if self._columns else 1  # the header, which may be all that is needed
        while (read := stream.read(size)).rows:
            yield read
            if stream.unclosed:
                complete = max(compress(read.lines, map(self._header.accepts, read.rows)), default=complete)
            size = BATCH_SIZE
        if stream.unclosed > complete:
            raise FileError(_TRUNCATED, stream.unclosed)

    def _check_last(self, row: Row, line: int) -> None:
        if len(row) < self._header.width and not self._text.text.endswith(_LINE_ENDS):
            raise FileError("the last record is truncated", line)


def open_csv(content: FileBytes, *, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing) -> CsvFile:
    """Return a CSV text with its delimiter: as declared, else as its first line says, else as its header shows.

    Raises FileError.
    """
    if options.delimiter is not None and not is_delimiter(options.delimiter):
        raise FileError(f"{options.delimiter!r} cannot be a delimiter")
    text = _CsvText(content, options, _skip_lines(content, options.skip_lines))
    declared = options.delimiter or separator_line(content, text.start)
    try:
        file = _open_undeclared(text, finds) if declared is None else CsvFile(text, declared)
    except FileError:
        _check_header(text, DELIMITERS if declared is None else [declared])
        raise
    if not finds(file.names):
        _check_header(text, [file.delimiter])
    return file


def _skip_lines(text: FileBytes, count: int) -> int:
    """Return the offset after some lines. Raises FileError if nothing follows them."""
    skipped = end = 0
    for skipped, line_end in enumerate(islice(LINE_END.finditer(text), count), 1):  # noqa: B007 - counts them
        end = line_end.end()
    if (skipped and end == len(text)) or skipped < count:
        found = skipped + (end < len(text))
        raise FileError(f"the mapping skips {counted(count, 'line')}, but the file has only {found:,}")
    return end


def _open_undeclared(text: _CsvText, finds: Finds) -> CsvFile:
    fits = partial(_fits, text, finds)
    found = find_delimiter(text.text, fits, quotes=text.options.quotes, start=text.start)
    return CsvFile(text, found, [] if found == COMMA else [DELIMITERS[found]])


def _fits(text: _CsvText, finds: Finds, delimiter: str) -> bool:
    """Return whether all required columns are found with a delimiter; of declared ones, as many as are declared."""
    if text.options.columns:
        return any(len(row) == len(text.options.columns) for row in text.rows(delimiter).read(1).rows)
    try:
        return finds(CsvFile(text, delimiter).names)
    except FileError:
        return False


def _check_header(text: _CsvText, delimiters: Iterable[str]) -> None:
    """Raise FileError if the first row of a text has data instead of names, with one of some delimiters."""
    for delimiter in delimiters if not text.options.columns else ():
        check_names(text.rows(delimiter).read(BATCH_SIZE))

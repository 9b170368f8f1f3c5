"""Read CSV files: records by the columns of the header."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import compress, count, islice
from typing import Final, TypeAlias

import msgspec

from service.reading.batches.batch import BATCH_SIZE, Batch, UnreadableRecord, UnusedName
from service.reading.batches.diagnostics import FileError, Issue
from service.reading.batches.record_file import RecordFile
from service.reading.fields.field_names import MAX_UNUSED
from service.reading.formats.csv.csv_rows import Row, Rows, RowStream
from service.reading.formats.csv.dialect import (
    COMMA,
    DELIMITERS,
    find_delimiter,
    is_delimiter,
    separator_line,
    skip_blank_rows,
)
from service.reading.formats.csv.missing_header import find_data
from service.reading.text.decompression import count_line_breaks
from service.texts import truncate

# Returns whether a header has all required columns.
Finds: TypeAlias = Callable[[Sequence[str]], bool]
_LINE_ENDS: Final = (b"\n", b"\r")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)")
_NO_VALUE: Final = ""
_INSERT_HEADER: Final = "insert a header line above it, with the names of the columns"


class _Header(msgspec.Struct, frozen=True):
    """The names of the columns, without empty ones at the end; the number of cells in the row, and its line."""

    names: Sequence[str]
    width: int
    line: int

    def accepts(self, row: Row) -> bool:
        """Return whether a row has a cell for each name, and no value beyond the cells of the header."""
        return len(self.names) <= len(row) and (len(row) <= self.width or not any(row[self.width :]))

    def count_unnamed(self, rows: Iterable[Row]) -> int:
        """Return the number of rows with a value after the columns with names."""
        named = len(self.names)
        return 0 if named == self.width or _NO_VALUE in self.names else sum(any(row[named:]) for row in rows)


class _Layout(msgspec.Struct, frozen=True):
    """The header, the columns to read, by name, with the index of each in a row; the names of others."""

    header: _Header
    indexes: Mapping[str, int]
    unused: Sequence[str]


class CsvFile(RecordFile):
    """A CSV text with a known delimiter."""

    def __init__(self, text: bytes, delimiter: str, assumed: Sequence[str] = ()) -> None:
        """Read the header. Raises FileError."""
        self._text, self.delimiter = text, delimiter
        self._start = _skip_to_header(text, delimiter)
        self._first_line = 1 + count_line_breaks(text, 0, self._start)
        self._header = _read_header(self._open())
        self.names, self.line, self.assumed = self._header.names, self._header.line, list(assumed)

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records. Raises FileError, with the line on which the bad record begins."""
        stream, text, header = self._open(), self._text, self._header
        _read_header(stream)
        layout = _lay_out(header, columns, also)
        record, last = 1, Rows([], (1,))
        while (read := stream.read(BATCH_SIZE)).rows:
            batch = _batch(read, record, layout, done=stream.done, total=len(text))
            yield batch
            record, last = record + len(batch.numbers) + len(batch.unreadable), read
        if last.rows and len(last.rows[-1]) < header.width and not text.endswith(_LINE_ENDS):
            raise FileError("the last record is truncated", last.lines[-2])

    def _open(self) -> RowStream:
        return RowStream(self._text, self.delimiter, start=self._start, line=self._first_line)


def finds_nothing(_: Sequence[str]) -> bool:
    """Return False: no columns are required."""
    return False


def open_csv(content: bytes, *, delimiter: str | None = None, finds: Finds = finds_nothing) -> CsvFile:
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


def _open_undeclared(content: bytes, finds: Finds) -> CsvFile:
    found = find_delimiter(content, partial(_finds, content, finds))
    return CsvFile(content, found, [] if found == COMMA else [DELIMITERS[found]])


def _check_header(text: bytes, delimiters: Iterable[str]) -> None:
    """Raise FileError if the first row of a text has data instead of names, with one of some delimiters."""
    for delimiter in delimiters:
        start = _skip_to_header(text, delimiter)
        rows: Sequence[Row] = ()
        with suppress(FileError):
            rows = RowStream(text, delimiter, start=start).read(BATCH_SIZE).rows
        if rows and (value := find_data(rows[0], rows[1:])) is not None:
            why = f"the first line looks like data ({truncate(value)!r}): {_INSERT_HEADER}"
            raise FileError(why, 1 + count_line_breaks(text, 0, start))


def _finds(text: bytes, finds: Finds, delimiter: str) -> bool:
    try:
        return finds(CsvFile(text, delimiter).names)
    except FileError:
        return False


def _skip_to_header(text: bytes, delimiter: str) -> int:
    """Return the offset after a line that declares the delimiter, and after blank rows: there may be millions."""
    line = _LINE.match(text) if separator_line(text) else None
    encoded = delimiter.encode()
    return skip_blank_rows(text, encoded if len(encoded) == 1 else b"", line.end() if line else 0)


def _read_header(stream: RowStream) -> _Header:
    while (read := stream.read(1)).rows:
        if any(read.rows[0]):
            return _parse_header(read.rows[0], read.line)
    raise FileError("the file is empty: a header line is required")


def _parse_header(row: Row, line: int) -> _Header:
    if duplicates := [name for name, number in Counter(row).items() if number > 1 and name != _NO_VALUE]:
        shown = ", ".join(repr(truncate(name)) for name in duplicates[:MAX_UNUSED])
        raise FileError(f"duplicate columns: {shown}: rename them", line)
    last = next(index for index in reversed(range(len(row))) if row[index])
    return _Header(row[: last + 1], len(row), line)


def _lay_out(header: _Header, wanted: Sequence[str], also: Sequence[str]) -> _Layout:
    indexes = dict(zip(header.names, count(), strict=False))
    selected = {name: indexes[name] for name in wanted}
    unused = islice((name for name in indexes if name not in selected), MAX_UNUSED)
    return _Layout(header, selected | {name: indexes[name] for name in also}, list(unused))


def _batch(read: Rows, record: int, layout: _Layout, *, done: int, total: int) -> Batch:
    """Return rows as a batch; its first record has number `record`."""
    header, found = layout.header, _find_records(read.rows, layout.header, record)
    cells, complete = found.cells, found.complete
    unused = [UnusedName(name, header.line, len(complete)) for name in layout.unused]
    if unnamed := header.count_unnamed(read.rows[index] for index in complete):
        unused.append(UnusedName(_NO_VALUE, header.line, unnamed))
    return Batch(
        numbers=found.numbers,
        columns={name: cells[index] if cells else () for name, index in layout.indexes.items()},
        lines=partial(_lines_of, read.lines, complete),
        unreadable=list(_unreadable(read, found.others, header.width)),
        unused=unused,
        done=done,
        total=total,
    )


class _Records(msgspec.Struct, frozen=True, eq=False):
    """The records among rows.

    cells     the cells of the complete records, by column
    complete  the index of the row of each of these
    numbers   the number of each of these
    others    the index and the number of each other record
    """

    cells: Sequence[tuple[str, ...]]
    complete: Sequence[int]
    numbers: Sequence[int]
    others: Sequence[tuple[int, int]] = ()


def _find_records(rows: Sequence[Row], header: _Header, first: int) -> _Records:
    if set(map(len, rows)) == {header.width}:
        cells = list(zip(*rows, strict=True))
        if any(_NO_VALUE not in column for column in cells):  # so no row is blank
            return _Records(cells, range(len(rows)), range(first, first + len(rows)))
    records = dict(zip(compress(count(), map(any, rows)), count(first), strict=False))
    width = header.width
    complete = [index for index in records if len(rows[index]) == width or header.accepts(rows[index])]
    cells = list(zip(*[rows[index] for index in complete], strict=False))
    numbers = [records[index] for index in complete]
    others = records.keys() - complete if len(complete) < len(records) else ()
    return _Records(cells, complete, numbers, [(index, records[index]) for index in sorted(others)])


def _lines_of(lines: Sequence[int], indexes: Sequence[int]) -> list[int]:
    return [lines[index] for index in indexes]


def _unreadable(read: Rows, others: Sequence[tuple[int, int]], width: int) -> Iterator[UnreadableRecord]:
    for index, number in others:
        issue = Issue("cells", f"the row has {len(read.rows[index])} cells, the header {width}")
        yield UnreadableRecord(number, read.lines[index], issue)

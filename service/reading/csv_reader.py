"""Read CSV files (RFC 4180, with any line ending)."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import accumulate, count, islice
from typing import Final, TypeAlias

import msgspec

from service.model.records import Resource
from service.reading.batch import BATCH_SIZE, Batch, UnreadableRecord, UnusedName
from service.reading.diagnostics import FileError, Issue
from service.reading.field_names import MAX_UNUSED, suggest_field

Row: TypeAlias = list[str]
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_LINE_ENDS: Final = (b"\n", b"\r")
_MAX_CELL: Final = 2**31 - 1  # the maximum of the csv module on every platform; cells cannot exceed the file


class _Header(msgspec.Struct, frozen=True):
    """The index of each field in a row, None for a missing column; the unused columns; the number of cells in a row."""

    indexes: Mapping[str, int | None]
    unused: Sequence[str]
    width: int
    line: int


class _Rows(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of a file, including empty ones, and the line on which the first begins."""

    rows: Sequence[Row]
    line: int

    def lines(self) -> list[int]:
        """Return the line on which each row begins, and the line after the last row."""
        return list(accumulate(map(_count_lines, self.rows), initial=self.line))


class _RowStream:
    """Reads the rows of a CSV text."""

    def __init__(self, text: bytes) -> None:
        self._bytes = BytesIO(text)
        self._reader = csv.reader(TextIOWrapper(self._bytes, "utf-8", newline=""), strict=True)

    @property
    def done(self) -> int:
        """The number of bytes read."""
        return self._bytes.tell()

    def read(self, size: int) -> _Rows:
        """Return the next rows, none at the end. Raises FileError."""
        rows: list[Row] = []
        read = _Rows(rows, self._reader.line_num + 1)
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as error:
            raise FileError(f"the record that begins here is not valid CSV: {error}", read.lines()[-1]) from None
        return read


def read_csv(text: bytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of a CSV text. Raises FileError, with the line on which the bad record begins."""
    csv.field_size_limit(_MAX_CELL)
    stream = _RowStream(text)
    header = _read_header(stream, resource)
    record, last = 1, _Rows([], 1)
    while (read := stream.read(BATCH_SIZE)).rows:
        numbers = dict(zip((index for index, row in enumerate(read.rows) if row), count(record), strict=False))
        yield _batch(read, numbers, header, done=stream.done, total=len(text))
        record, last = record + len(numbers), read
    if last.rows and len(last.rows[-1]) < header.width and not text.endswith(_LINE_ENDS):
        raise FileError("the last record is truncated", last.lines()[-2])


def _read_header(stream: _RowStream, resource: Resource) -> _Header:
    while (read := stream.read(1)).rows:
        if read.rows[0]:
            return _parse_header(read.rows[0], resource, read.line)
    raise FileError("the file is empty: a header line is required")


def _parse_header(header: Row, resource: Resource, line: int) -> _Header:
    if duplicates := [name for name, count in Counter(header).items() if count > 1]:
        raise FileError(f"duplicate columns: {', '.join(map(repr, duplicates))}", line)
    indexes: dict[str, int | None] = {field.name: None for field in resource.fields}
    unused = [name for name in header if name not in indexes]
    if missing := [field.name for field in resource.fields if field.required and field.name not in header]:
        raise FileError(_describe_missing(missing, unused, resource), line)
    indexes.update((name, index) for index, name in enumerate(header) if name in indexes)
    return _Header(indexes, unused[:MAX_UNUSED], len(header), line)


def _describe_missing(missing: Sequence[str], unused: Sequence[str], resource: Resource) -> str:
    candidates = {suggest_field(name, resource): name for name in unused[:MAX_UNUSED]}
    described = [f"{field} (rename {candidates[field]!r}?)" if field in candidates else field for field in missing]
    return f"missing columns: {', '.join(described)}"


def _batch(read: _Rows, numbers: Mapping[int, int], header: _Header, *, done: int, total: int) -> Batch:
    complete = [index for index in numbers if len(read.rows[index]) == header.width]
    cells = list(zip(*[read.rows[index] for index in complete], strict=True))
    no_cells = (None,) * len(complete)
    return Batch(
        numbers=[numbers[index] for index in complete],
        columns={
            name: cells[index] if cells and index is not None else no_cells for name, index in header.indexes.items()
        },
        lines=partial(_lines_of, read, complete),
        unreadable=_unreadable(read, numbers, header.width) if len(complete) < len(numbers) else [],
        unused=[UnusedName(name, header.line, len(complete)) for name in header.unused],
        done=done,
        total=total,
    )


def _lines_of(read: _Rows, indexes: Sequence[int]) -> list[int]:
    lines = read.lines()
    return [lines[index] for index in indexes]


def _unreadable(read: _Rows, numbers: Mapping[int, int], width: int) -> list[UnreadableRecord]:
    lines = read.lines()
    return [
        UnreadableRecord(
            number, lines[index], Issue("cells", f"the row has {len(read.rows[index])} cells, the header {width}")
        )
        for index, number in numbers.items()
        if len(read.rows[index]) != width
    ]


def _count_lines(row: Row) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

"""The reader of CSV files (RFC 4180, with any line ending)."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import accumulate, count, islice
from typing import Final, TypeAlias

import msgspec

from service.loading.batch import BATCH_SIZE, Batch, Broken, Unused
from service.loading.faults import Flaw, RefusedError
from service.loading.names import MOST_UNUSED, meant_field
from service.records import Resource

Row: TypeAlias = list[str]
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_LINE_ENDS: Final = (b"\n", b"\r")
_LONGEST_CELL: Final = 2**31 - 1  # the most that csv takes on every platform; the file itself bounds the cells


class _Header(msgspec.Struct, frozen=True):
    """Where each field is in a row, None where the file has no such column; the other columns; the cells of a row."""

    places: Mapping[str, int | None]
    unused: Sequence[str]
    width: int
    line: int


class _Rows(msgspec.Struct, frozen=True, eq=False):
    """Some rows of a file, empty ones among them, and the line on which the first begins."""

    rows: Sequence[Row]
    line: int

    def lines(self) -> list[int]:
        """Return the line on which each row begins, and that on which the next would."""
        return list(accumulate(map(_count_lines, self.rows), initial=self.line))


class _RowStream:
    """The rows of a CSV text."""

    def __init__(self, text: bytes) -> None:
        self._bytes = BytesIO(text)
        self._reader = csv.reader(TextIOWrapper(self._bytes, "utf-8", newline=""), strict=True)

    @property
    def done(self) -> int:
        """How many bytes are read."""
        return self._bytes.tell()

    def read(self, size: int) -> _Rows:
        """Return the next rows, none at the end. Raises RefusedError."""
        rows: list[Row] = []
        read = _Rows(rows, self._reader.line_num + 1)
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as error:
            raise RefusedError(f"the record that begins here is not CSV: {error}", read.lines()[-1]) from None
        return read


def read_csv(text: bytes, resource: Resource) -> Iterator[Batch]:
    """Yield the records of a CSV text. Raises RefusedError, with the line on which the bad record begins."""
    csv.field_size_limit(_LONGEST_CELL)
    stream = _RowStream(text)
    header = _read_header(stream, resource)
    record, last = 1, _Rows([], 1)
    while (read := stream.read(BATCH_SIZE)).rows:
        numbers = dict(zip((place for place, row in enumerate(read.rows) if row), count(record), strict=False))
        yield _batch(read, numbers, header, done=stream.done, total=len(text))
        record, last = record + len(numbers), read
    if last.rows and len(last.rows[-1]) < header.width and not text.endswith(_LINE_ENDS):
        raise RefusedError("the last record is cut short", last.lines()[-2])


def _read_header(stream: _RowStream, resource: Resource) -> _Header:
    while (read := stream.read(1)).rows:
        if read.rows[0]:
            return _locate(read.rows[0], resource, read.line)
    raise RefusedError("the file is empty: a header line is needed")


def _locate(header: Row, resource: Resource, line: int) -> _Header:
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        raise RefusedError(f"columns that stand twice: {', '.join(map(repr, twice))}", line)
    places: dict[str, int | None] = {field.name: None for field in resource.fields}
    unused = [name for name in header if name not in places]
    if lacking := [field.name for field in resource.fields if field.required and field.name not in header]:
        raise RefusedError(_missing(lacking, unused, resource), line)
    places.update((name, place) for place, name in enumerate(header) if name in places)
    return _Header(places, unused[:MOST_UNUSED], len(header), line)


def _missing(lacking: Sequence[str], unused: Sequence[str], resource: Resource) -> str:
    meant = {meant_field(name, resource): name for name in unused[:MOST_UNUSED]}
    wanted = [f"{field} (rename {meant[field]!r}?)" if field in meant else field for field in lacking]
    return f"columns that are missing: {', '.join(wanted)}"


def _batch(read: _Rows, numbers: Mapping[int, int], header: _Header, *, done: int, total: int) -> Batch:
    whole = [place for place in numbers if len(read.rows[place]) == header.width]
    cells = list(zip(*[read.rows[place] for place in whole], strict=True))
    no_cells = (None,) * len(whole)
    return Batch(
        numbers=[numbers[place] for place in whole],
        columns={
            name: cells[place] if cells and place is not None else no_cells for name, place in header.places.items()
        },
        lines=partial(_lines_of, read, whole),
        broken=_broken(read, numbers, header.width) if len(whole) < len(numbers) else [],
        unused=[Unused(name, header.line, len(whole)) for name in header.unused],
        done=done,
        total=total,
    )


def _lines_of(read: _Rows, places: Sequence[int]) -> list[int]:
    lines = read.lines()
    return [lines[place] for place in places]


def _broken(read: _Rows, numbers: Mapping[int, int], width: int) -> list[Broken]:
    lines = read.lines()
    return [
        Broken(number, lines[place], Flaw("cells", f"the row has {len(read.rows[place])} cells, the header {width}"))
        for place, number in numbers.items()
        if len(read.rows[place]) != width
    ]


def _count_lines(row: Row) -> int:
    return 1 + len(_LINE_BREAK.findall(",".join(row)))

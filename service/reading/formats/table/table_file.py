"""Records of a table of texts, by the columns of its header."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, count, islice
from typing import TypeAlias

import msgspec

from service.reading.batches.batch import Batch, UnreadableRecord, UnusedName
from service.reading.batches.diagnostics import Issue
from service.reading.batches.record_file import RecordFile
from service.reading.fields.field_names import MAX_UNUSED
from service.reading.formats.table.header import NO_VALUE, Header, split_header
from service.reading.formats.table.rows import Row, Rows
from service.reading.formats.table.table_options import NO_OPTIONS, TableOptions

# Returns whether a header has all required columns.
Finds: TypeAlias = Callable[[Sequence[str]], bool]


def finds_nothing(_: Sequence[str]) -> bool:
    """Return False: no columns are required."""
    return False


class _Layout(msgspec.Struct, frozen=True):
    """The header, the columns to read, by name, with the index of each in a row; the names of others."""

    header: Header
    indexes: Mapping[str, int]
    unused: Sequence[str]


class TableFile(RecordFile):
    """A table of texts: its first row with a value has the names of the columns, unless they are declared.

    total  the size of the file, in bytes or in rows
    """

    total: int

    def __init__(self, assumed: Sequence[str] = (), options: TableOptions = NO_OPTIONS) -> None:
        """Read the header. Raises FileError."""
        self._clean, self._columns = options.cleaning.clean, options.columns
        self._header, _ = self._split_header()
        self.names, self.line, self.assumed = self._header.names, self._header.line, list(assumed)

    @abstractmethod
    def _rows(self) -> Iterator[Rows]:
        """Yield the rows from the first, some at a time. Raises FileError."""

    def _check_last(self, row: Row, line: int) -> None:
        """Raise FileError if the last row may be truncated."""

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records. Raises FileError, with the line on which the bad record begins."""
        header, rows = self._split_header()
        layout = _lay_out(header, columns, also)
        record, last = 1, Rows([], ())
        for read in rows:
            if not read.rows:
                continue
            batch = _batch(read, record, layout, self.total)
            yield batch
            record, last = record + len(batch.numbers) + len(batch.unreadable), read
        if last.rows:
            self._check_last(last.rows[-1], last.lines[len(last.rows) - 1])

    def _split_header(self) -> tuple[Header, Iterator[Rows]]:
        """Return the header, and the rows below it."""
        rows = self._rows() if self._clean is None else map(partial(_cleaned, self._clean), self._rows())
        if self._columns:
            return Header(self._columns, len(self._columns)), rows
        header, first = split_header(rows)
        return header, chain([first], rows)


def _cleaned(clean: Callable[[str], str], read: Rows) -> Rows:
    return msgspec.structs.replace(read, rows=[list(map(clean, row)) for row in read.rows])


def _lay_out(header: Header, wanted: Sequence[str], also: Sequence[str]) -> _Layout:
    indexes = dict(zip(header.names, count(), strict=False))
    selected = {name: indexes[name] for name in wanted}
    unused = islice((name for name in indexes if name not in selected), MAX_UNUSED)
    return _Layout(header, selected | {name: indexes[name] for name in also}, list(unused))


def _batch(read: Rows, record: int, layout: _Layout, total: int) -> Batch:
    """Return rows as a batch; its first record has number `record`."""
    header, found = layout.header, _find_records(read, layout.header, record)
    cells, complete = found.cells, found.complete
    unused = [UnusedName(name, header.line, len(complete)) for name in layout.unused]
    if unnamed := header.count_unnamed(read.rows[index] for index in complete):
        unused.append(UnusedName(NO_VALUE, header.line, unnamed))
    return Batch(
        numbers=found.numbers,
        columns={name: cells[index] if cells else () for name, index in layout.indexes.items()},
        lines=partial(_lines_of, read.lines, complete),
        unreadable=list(_unreadable(read, found.others, header)),
        unused=unused,
        done=read.done,
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


def _find_records(read: Rows, header: Header, first: int) -> _Records:
    rows = read.rows
    if set(map(len, rows)) == {header.width}:
        cells = list(zip(*rows, strict=True))
        if any(NO_VALUE not in column for column in cells):  # so no row is blank
            return _Records(cells, range(len(rows)), range(first, first + len(rows)))
    records = dict(zip(_with_values(rows, read.malformed), count(first), strict=False))
    width = header.width
    complete = [index for index in records if len(rows[index]) == width or header.accepts(rows[index])]
    cells = list(zip(*[rows[index] for index in complete], strict=False))
    numbers = [records[index] for index in complete]
    others = records.keys() - complete if len(complete) < len(records) else ()
    return _Records(cells, complete, numbers, [(index, records[index]) for index in sorted(others)])


def _with_values(rows: Sequence[Row], malformed: Iterable[int]) -> Iterator[int]:
    """Yield the indexes of the rows that are not blank."""
    found = compress(count(), map(any, rows))
    return iter(sorted(chain(found, malformed))) if malformed else found


def _lines_of(lines: Sequence[int], indexes: Sequence[int]) -> list[int]:
    return [lines[index] for index in indexes]


def _unreadable(read: Rows, others: Sequence[tuple[int, int]], header: Header) -> Iterator[UnreadableRecord]:
    expected = f"the {'header' if header.line else 'mapping'} {header.width}"
    for index, number in others:
        why = read.malformed.get(index) or f"the row has {len(read.rows[index])} cells, {expected}"
        yield UnreadableRecord(number, read.lines[index], Issue("cells", why))

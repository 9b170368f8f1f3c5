"""Records of a table of texts, by the columns of its header."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, count, islice
from typing import Final, TypeAlias

import msgspec

from service.reading.batch import Batch, RecordFile, UnreadableRecord, UnusedName
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.diagnostics import FileError, Issue
from service.reading.text import Cleaning
from service.texts import truncate

Row: TypeAlias = Sequence[str]


class Rows(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of a file, including empty ones.

    lines      the line of the file on which each row begins, of a sheet its row
    done       how much of the file has been read after them, in the unit of `TableFile.total`
    malformed  the index of each row that cannot be read, which has no cells, and why
    """

    rows: Sequence[Row]
    lines: Sequence[int]
    done: int = 0
    malformed: Mapping[int, str] = {}

    def after(self, index: int) -> "Rows":
        """Return the rows after the one at an index."""
        start = index + 1
        malformed = {each - start: why for each, why in self.malformed.items() if each >= start}
        return Rows(self.rows[start:], self.lines[start:], self.done, malformed)


NO_VALUE: Final = ""


class Header(msgspec.Struct, frozen=True):
    """The names of the columns, without empty ones at the end; the number of cells in the row, and its line.

    A mapping may name the columns of a table that has no such row.
    """

    names: Sequence[str]
    width: int
    line: int | None = None

    def accepts(self, row: Row) -> bool:
        """Return whether a row has a cell for each name, and no value beyond the cells of the header."""
        return len(self.names) <= len(row) and (len(row) <= self.width or not any(row[self.width :]))

    def count_unnamed(self, rows: Iterable[Row]) -> int:
        """Return the number of rows with a value after the columns with names."""
        named = len(self.names)
        return 0 if named == self.width or NO_VALUE in self.names else sum(any(row[named:]) for row in rows)


def split_header(rows: Iterator[Rows]) -> tuple[Header, Rows]:
    """Return the header, the first row with a value, and the rows read with it, below it. Raises FileError."""
    for read in rows:
        for index, row in enumerate(read.rows):
            if index in read.malformed:
                raise FileError(read.malformed[index], read.lines[index])
            if any(row):
                return _parse_header(row, read.lines[index]), read.after(index)
    raise FileError("the file is empty: a header line is required")


def _parse_header(row: Row, line: int) -> Header:
    if duplicates := [name for name, number in Counter(row).items() if number > 1 and name != NO_VALUE]:
        shown = ", ".join(repr(truncate(name)) for name in duplicates[:MAX_UNUSED])
        raise FileError(f"duplicate columns: {shown}: rename them", line)
    last = next(index for index in reversed(range(len(row))) if row[index])
    return Header(row[: last + 1], len(row), line)


class TableOptions(msgspec.Struct, frozen=True):
    """How a table is read.

    delimiter   of the cells of CSV; None if the file decides
    quotes      whether double quotes enclose cells of CSV
    skip_lines  the lines above the table, of a sheet its rows
    columns     the names of the columns of a table without a header; none if it has one
    sheet       that of a workbook; None for the first one
    cleaning    how cells are cleaned: those of other formats, too
    """

    delimiter: str | None = None
    quotes: bool = True
    skip_lines: int = 0
    columns: tuple[str, ...] = ()
    sheet: str | None = None
    cleaning: Cleaning = Cleaning()

    @property
    def keys(self) -> list[str]:
        """The declared keys of a mapping that mean something only for tables."""
        return [key for name, key in _KEYS.items() if getattr(self, name) != getattr(NO_OPTIONS, name)]


NO_OPTIONS: Final = TableOptions()
_KEYS: Final = {each: each for each in ("delimiter", "skip_lines", "columns", "sheet")} | {"quotes": "quote"}


# Returns whether a header has all required columns.
Finds: TypeAlias = Callable[[Sequence[str]], bool]


def finds_nothing(_: Sequence[str]) -> bool:
    """Return False: no columns are required."""
    return False


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
        _, rows = self._split_header()
        places, known = dict(zip(self.names, count(), strict=False)), set(columns)
        indexes = {name: places[name] for name in (*columns, *also)}
        unused = list(islice((name for name in places if name not in known), MAX_UNUSED))
        record, last = 1, Rows([], ())
        for read in rows:
            if not read.rows:
                continue
            batch = self._batch(read, record, indexes, unused)
            yield batch
            record, last = record + len(batch.numbers) + len(batch.unreadable), read
        if last.rows:
            self._check_last(last.rows[-1], last.lines[len(last.rows) - 1])

    def _batch(self, read: Rows, record: int, indexes: Mapping[str, int], unused: Sequence[str]) -> Batch:
        """Return rows as a batch; its first record has number `record`."""
        header, found = self._header, _find_records(read, self._header, record)
        cells, complete, lines = found.cells, found.complete, read.lines
        unused_names = [UnusedName(name, header.line, len(complete)) for name in unused]
        if unnamed := header.count_unnamed(read.rows[index] for index in complete):
            unused_names.append(UnusedName(NO_VALUE, header.line, unnamed))
        return Batch(
            numbers=found.numbers,
            columns={name: cells[index] if cells else () for name, index in indexes.items()},
            lines=lambda: [lines[index] for index in complete],
            unreadable=list(_unreadable(read, found.others, header)),
            unused=unused_names,
            done=read.done,
            total=self.total,
        )

    def _split_header(self) -> tuple[Header, Iterator[Rows]]:
        """Return the header, and the rows below it."""
        rows = self._rows() if self._clean is None else map(partial(_cleaned, self._clean), self._rows())
        if self._columns:
            return Header(self._columns, len(self._columns)), rows
        header, first = split_header(rows)
        return header, chain([first], rows)


def _cleaned(clean: Callable[[str], str], read: Rows) -> Rows:
    return msgspec.structs.replace(read, rows=[list(map(clean, row)) for row in read.rows])


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


def _unreadable(read: Rows, others: Sequence[tuple[int, int]], header: Header) -> Iterator[UnreadableRecord]:
    expected = f"expected {header.width} cells as in the {'header' if header.line else 'mapping'}"
    for index, number in others:
        why = read.malformed.get(index) or f"{expected}, found {len(read.rows[index])}"
        yield UnreadableRecord(number, read.lines[index], Issue("cells", why))

"""Records of a table of texts, by the columns of its header; a table whose first row has values has none."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, islice
from typing import Any, Final, TypeAlias

import msgspec

from service.model.records import STORES
from service.reading.batch import BATCH_SIZE, Batch, RecordFile, UnreadableRecord, UnusedName
from service.reading.characters import cleaner
from service.reading.columns.field_names import MAX_UNUSED, column_key, suggest_field
from service.reading.diagnostics import FileError, Issue
from service.texts import repeated, truncate

Row: TypeAlias = Sequence[str]
NO_VALUE: Final = ""
_MARK: Final = "\ufeff"  # of a file that was put behind another
_AROUND: Final = (("", ""), (" ", ""), ("", " "), (_MARK, ""), (f'{_MARK}"', '"'))  # of the first name in it
_HEADER: Final = Issue("header", "the header again, left out; files seem to have been put together")
_MAX_COLUMNS: Final = 100  # that are compared
# Forms of values that no name has, together with other values of its form below it.
_FORMS: Final = (
    r"[+-]?[0-9]{1,3}[.,][0-9]{3,}",  # degrees
    r"[0-9]{1,4}([./-]) ?[0-9]{1,2}\1 ?[0-9]{1,4}(?:[T ,].*)?",  # dates
    r"[0-9]+[a-z]? [^\W\d].*",  # 1 Elm St
    r"[^@\s]+@[^@\s]+|https?://\S+",
    *(rf"[0-9]{{{digits}}}" for digits in range(5, 10)),  # postal codes; years are names of columns, too
)
_FORM: Final = 2  # points of a cell that is certainly a value
_REPEATED: Final = 1  # of a cell that is a value in another row of its column
_NUMBERED: Final = 1  # of all cells with numbers together: columns may be numbered
_ENOUGH: Final = 2
IN_QUOTES: Final = "line is in quotes as a whole: remove these, and write every two quotes in it as one"
Warnings: TypeAlias = list[tuple[int | None, Issue]]  # about a file, each with its line
Finds: TypeAlias = Callable[[Sequence[str]], bool]  # whether a header has all required columns


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


class TableOptions(msgspec.Struct, frozen=True):
    """How a table is read, by the keys of a mapping. Cells of other formats are repaired and trimmed, too.

    delimiter   of the cells of CSV; None if the file decides
    quote       what encloses cells of CSV; "" for nothing
    skip_lines  the lines above the table, of a sheet its rows
    columns     the names of the columns of a table without a header; none if it has one
    sheets      those of a workbook; none for the first one
    """

    repair: tuple[str, ...] = ()
    delimiter: str | None = None
    quote: str = '"'
    skip_lines: int = 0
    columns: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    trim: bool = False

    @property
    def declared(self) -> dict[str, Any]:
        """The keys whose values are not the default."""
        values = msgspec.structs.asdict(self)
        return {key: values[key] for key in values if values[key] != getattr(NO_OPTIONS, key)}

    @property
    def clean(self) -> Callable[[str], str] | None:
        """The function that cleans a text; None if texts stay the same."""
        return cleaner(self.repair, trims=self.trim)


NO_OPTIONS: Final = TableOptions()


class HeaderError(FileError):
    """The first row of a table, `row`, does not name its columns."""

    def __init__(self, why: str, line: int, row: Row) -> None:
        super().__init__(why, line)
        self.row = row


class MissingHeader(HeaderError):
    """It has data instead of names."""


class RepeatedColumns(HeaderError):
    """Several columns have one name."""


def check_names(rows: Rows) -> None:
    """Raise MissingHeader if the first row with a value has data instead of names."""
    first = next((index for index, row in enumerate(rows.rows) if any(row)), None)
    if first is not None and (value := find_data(rows.rows[first], rows.rows[first + 1 :])) is not None:
        hint = "insert a header line above it, with the names of the columns, or declare columns in mapping.toml"
        why = f"the first line looks like data ({truncate(value)!r}): {hint}"
        raise MissingHeader(why, rows.lines[first], rows.rows[first])


def find_data(first: Row, others: Sequence[Row]) -> str | None:
    """Return a cell of the first row of a table that is a value, no name of a column; None if there is none.

    There are more signs of that than names of fields: some of these are values, too, such as `open`.
    """
    columns = [
        (cell, [row[index].strip() for row in others if index < len(row)])
        for index, cell in enumerate(map(str.strip, islice(first, _MAX_COLUMNS)))
        if cell
    ]
    if any(all(cell in texts[index : index + 1] for cell, texts in columns) for index in range(len(others))):
        return None  # the header is repeated
    points = {cell: _points(cell, texts) for cell, texts in columns}
    numbered = any(cell.isdecimal() and all(map(str.isdecimal, texts)) for cell, texts in columns)
    total = sum(points.values()) + _NUMBERED * numbered
    known = sum(suggest_field(cell, STORES) is not None for cell in points)
    return max(points, key=points.__getitem__) if total >= _ENOUGH and total > known else None


def _points(cell: str, texts: Sequence[str]) -> int:
    """Return how much a cell is like the others in its column."""
    values = set(filter(None, texts))
    for form in _FORMS:
        if re.fullmatch(form, cell):
            return _FORM if 2 * sum(re.fullmatch(form, value) is not None for value in values) >= len(values) else 0
    # A column of check marks has its name in some rows, and nothing in the others.
    is_repeated = cell in values and (len(values) > 1 or "" not in texts)
    return _REPEATED if is_repeated and not cell.isdecimal() else 0


def _hint(row: Row) -> str:
    """Return what to do about a row with another number of cells than the header."""
    if any(cell.lstrip(" ")[:1] == '"' != cell[0] for cell in row):
        return "; if spaces may be before quotes, declare trim = true in mapping.toml"
    is_quoted = len(row) == 1 and any(row[0].count(delimiter) > 1 for delimiter in ",;\t|")
    return f"; the {IN_QUOTES}" if is_quoted else ""


def finds_nothing(_: Sequence[str]) -> bool:
    """Return False: no columns are required."""
    return False


class TableFile(RecordFile):
    """A table of texts: its first row with a value has the names of the columns, unless they are declared.

    total     the size of the file, in bytes or in rows
    warnings  about the file, each with its line: complete after all batches
    """

    total: int

    def __init__(self, options: TableOptions, finds: Finds, assumed: Sequence[str] = ()) -> None:
        """Read the header. Raises MissingHeader if it has data instead of names, or FileError."""
        self._clean, self._columns, self._header = options.clean, options.columns, Header((), 0)
        self.warnings: Warnings = []
        try:
            self._header, _ = self._split_header()
        except FileError:
            check_names(self._first_rows())
            raise
        self.names, self.line, self.assumed = self._header.names, self._header.line, list(assumed)
        if not (self._columns or finds(self.names)):
            check_names(self._first_rows())

    @abstractmethod
    def _rows(self, first: int) -> Iterator[Rows]:
        """Yield the rows, so many first if some at a time are read at will. Raises FileError."""

    def _first_rows(self) -> Rows:
        return next(self._rows(BATCH_SIZE), Rows([], ()))

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records. Raises FileError, with the line on which the bad record begins."""
        _, rows = self._split_header()
        places, known = dict(zip(self.names, count(), strict=False)), set(columns)
        indexes = {name: places[name] for name in (*columns, *also)}
        unused = list(islice((name for name in places if name not in known), MAX_UNUSED))
        record = 1
        for read in rows:
            if not read.rows:
                continue
            batch = self._batch(self._without_headers(read), record, indexes, unused)
            yield batch
            record += len(batch.numbers) + len(batch.unreadable)

    def _without_headers(self, read: Rows) -> Rows:
        """Return rows without the cells of those that repeat the header, as two files that were put together have."""
        first, stop = self.names[0], len(self.names)
        written = {first, first.lower(), first.upper(), first.title(), first.capitalize()}
        starts = {f"{before}{each}{after}" for each in written for before, after in _AROUND}
        if starts.isdisjoint([row[0] for row in read.rows if row]):
            return read
        alike = [at for at, row in enumerate(read.rows) if row and row[0] in starts]
        others = list(map(column_key, self.names[1:]))
        repeated = {at for at in alike if list(map(column_key, read.rows[at][1:stop])) == others}
        if not repeated:
            return read
        known = set(self.warnings)  # of an earlier pass
        self.warnings += [each for at in repeated if (each := (read.lines[at], _HEADER)) not in known]
        rows = [() if at in repeated else row for at, row in enumerate(read.rows)]
        return msgspec.structs.replace(read, rows=rows)

    def _batch(self, read: Rows, first: int, indexes: Mapping[str, int], unused: Sequence[str]) -> Batch:
        """Return rows as a batch; its first record has number `first`."""
        rows, lines, header, unreadable = read.rows, read.lines, self._header, list[UnreadableRecord]()
        complete: Sequence[int] = range(len(rows))
        numbers: Sequence[int] = range(first, first + len(rows))
        cells = list(zip(*rows, strict=True)) if set(map(len, rows)) == {header.width} else []
        if not any(NO_VALUE not in column for column in cells):  # a row may be blank
            filled = sorted(chain(compress(count(), map(any, rows)), read.malformed))
            records = dict(zip(filled, count(first), strict=False))
            complete = [index for index in filled if len(rows[index]) == header.width or header.accepts(rows[index])]
            numbers = [records[index] for index in complete]
            cells = list(zip(*[rows[index] for index in complete], strict=False))
            for index in sorted(records.keys() - complete):
                expected = f"expected {header.width} cells as in the {'header' if header.line else 'mapping'}"
                why = read.malformed.get(index) or f"{expected}, found {len(rows[index])}{_hint(rows[index])}"
                unreadable.append(UnreadableRecord(records[index], lines[index], Issue("cells", why)))
        unused_names = [UnusedName(name, header.line, len(complete)) for name in unused]
        named = len(header.names)
        if named < header.width and NO_VALUE not in header.names:
            unnamed = sum(any(rows[index][named:]) for index in complete)
            unused_names += [UnusedName(NO_VALUE, header.line, unnamed)] if unnamed else []
        return Batch(
            numbers=numbers,
            columns={name: cells[index] if cells else () for name, index in indexes.items()},
            lines=lambda: [lines[index] for index in complete],
            unreadable=unreadable,
            unused=unused_names,
            done=read.done,
            total=self.total,
        )

    def _split_header(self) -> tuple[Header, Iterator[Rows]]:
        """Return the header, the first row with a value, and the rows below it. Raises FileError."""
        rows = self._rows(BATCH_SIZE if self._columns else 1)  # the header, which may be all that is needed
        if (clean := self._clean) is not None:
            rows = (msgspec.structs.replace(read, rows=[list(map(clean, row)) for row in read.rows]) for read in rows)
        if self._columns:
            return Header(self._columns, len(self._columns)), rows
        for read in rows:
            for index, row in enumerate(read.rows):
                if index in read.malformed:
                    raise FileError(read.malformed[index], read.lines[index])
                if duplicates := repeated(filter(None, row)):
                    shown = ", ".join(repr(truncate(name)) for name in duplicates[:MAX_UNUSED])
                    raise RepeatedColumns(f"duplicate columns: {shown}: rename them", read.lines[index], row)
                if any(row):
                    last = next(place for place in reversed(range(len(row))) if row[place])
                    header, start = Header(row[: last + 1], len(row), read.lines[index]), index + 1
                    malformed = {each - start: why for each, why in read.malformed.items() if each >= start}
                    return header, chain([Rows(read.rows[start:], read.lines[start:], read.done, malformed)], rows)
        raise FileError("the file is empty: a header line is required")

"""Sheets of a workbook as a table of texts."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from service.reading.batch import BATCH_SIZE, Batch
from service.reading.columns.field_names import find_alike
from service.reading.diagnostics import FileError, Issue, WarningCode
from service.reading.formats.table_file import (
    NO_OPTIONS,
    NO_VALUE,
    Finds,
    Row,
    Rows,
    TableFile,
    TableOptions,
    finds_nothing,
)
from service.reading.isolation import FileReader
from service.reading.text import MAX_RATIO
from service.spool import FileBytes
from service.texts import counted, truncate

UNREADABLE: Final = "not a workbook that can be read"
TOO_MUCH_MEMORY: Final = (
    f"{UNREADABLE}: it takes too much memory; delete cells that are far below the table, or far to the right of it;"
    " if there are none, save the sheet as CSV"
)
LINK: Final = ".link"  # the end of the name of the column with the addresses that the cells of another link to
EXAMPLES: Final = 3  # of cells
MAX_SHEETS: Final = 20  # that are listed, or looked at
_ABOVE: Final = 64  # rows in which the header of another sheet is looked for
_SIMILAR: Final = 0.5  # the share of the columns that sheets of such records have in common
# What is noted of cells, of one and of several, and what to do about it.
_NOTED: Final = {
    "formula": (
        "formula has no value",
        "formulas have no value",
        "open the file in a spreadsheet program, and save it",
    ),
    "merged": (
        "group of cells is merged",
        "groups of cells are merged",
        "the first cell has the value; fill in the others",
    ),
    "format": (
        "number has zeros in front",
        "numbers have zeros in front",
        "read as shown; if others of a column are not, declare pad = 5, or its digits",
    ),
    "link": ("text has a link", "texts have links", "the addresses are in the column {}, which is not used"),
}


class SheetRequest(msgspec.Struct, frozen=True):
    """The sheet to read, how many of its rows to skip, and how many to read at most; None for all of them.

    above  the number of rows above the header; None if there is none
    """

    sheet: str
    skip: int = 0
    most: int | None = None
    above: int | None = 0


class Sheets(msgspec.Struct, frozen=True, tag=True):
    """The names of the sheets with cells: visible ones, so many, then hidden ones."""

    names: list[str]
    visible: int


class CellNote(msgspec.Struct, frozen=True):
    """What the texts of some cells do not say: their number, the first ones, and the row of the first of them.

    column  the one that the addresses are in that they link to
    """

    code: WarningCode
    column: str
    row: int
    count: int
    cells: Sequence[str]


class SheetRows(msgspec.Struct, frozen=True, tag=True):
    """The next rows, the number of the first of them, from 1, and that of the last one of the sheet, with its notes."""

    rows: Sequence[Row]
    first: int
    last: int
    notes: Sequence[CellNote] = ()


class WorkbookReader(FileReader):
    """The process of a workbook."""

    module = "service.reading.formats.sheet"
    unreadable = UNREADABLE
    opened_type, part_type = Sheets, SheetRows
    too_large = f"the sheet expands to more than 64 MiB and {MAX_RATIO} times the size of the file"
    aborted = TOO_MUCH_MEMORY  # Rust cannot do without memory that it asks for


class WorkbookFile(TableFile):
    """Sheets of a workbook with the same columns: those of some names, else the first visible one."""

    has_dates = True

    def __init__(
        self, content: FileBytes | FileReader, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing
    ) -> None:
        """Read the header, of a file or through the process that has it. Raises FileError."""
        self._reader = WorkbookReader.of(content)
        opened: Sheets = self._reader.opened
        self._sheets = _find_sheets(opened.names, options.sheets)
        self._others = [name for name in opened.names[: opened.visible] if name not in self._sheets]
        self._notes, self._chosen = dict[str, Sequence[CellNote]](), bool(options.sheets)
        self._skipped, self._above = options.skip_lines, None if options.columns else options.skip_lines
        self._first = list(self._reader.parts(SheetRequest(self._sheets[0], most=BATCH_SIZE, above=self._above)))
        self.names, self.total = (), self._first[0].last if self._first else 0
        if self._skipped and self._skipped >= self.total:
            rows = counted(self._skipped, "row")
            raise FileError(f"the mapping skips {rows}, but the sheet has only {self.total:,}")
        chosen = f"sheet {truncate(self._sheets[0])!r}, the first of {len(opened.names)}"
        super().__init__(options, finds, [] if self._chosen or len(opened.names) == 1 else [chosen])

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records, and add warnings about what is not in them. Raises FileError."""
        yield from super().batches(columns, also)
        for sheet, notes in self._notes.items():
            place = sheet if len(self._sheets) > 1 else ""
            self.warnings += [(place, note.row, _issue(sheet, note)) for note in notes if note.column not in columns]
        if not self._chosen and (alike := self.alike_sheets(_SIMILAR)):
            declared = msgspec.json.encode([*self._sheets, *alike]).decode()
            others = counted(len(alike), "other sheet has such records", "other sheets have such records")
            self.warnings.append(("", None, Issue("sheet", f"{others}, not read: declare sheets = {declared}")))

    def alike_sheets(self, share: float = 1) -> Sequence[str]:
        """Return the names of the other visible sheets with records that have this share of the columns."""
        return [name for name in self._others[:MAX_SHEETS] if self._share_of(name) >= share]

    def _share_of(self, sheet: str) -> float:
        """Return the share of the columns that another sheet has; 0 if it has no records, or cannot be read."""
        with suppress(FileError):
            parts = list(self._reader.parts(SheetRequest(sheet, skip=self._skipped, most=_ABOVE, above=self._above)))
            rows = [row for part in parts for row in part.rows if any(row)]
            return sum(map(bool, find_alike(self.names, rows[0]).values())) / len(self.names) if len(rows) > 1 else 0
        return 0

    def _rows(self, _: int) -> Iterator[Rows]:
        yield from self._sheet_rows(self._sheets[0])
        for sheet in self._sheets[1:] if self.names else ():
            places: Sequence[int | None] | None = range(len(self.names)) if self._above is None else None
            for read in self._sheet_rows(sheet, self.total):
                start = 0
                if places is None and any(map(any, read.rows)):
                    start = 1 + next(at for at, row in enumerate(read.rows) if any(row))
                    places = self._places(sheet, read.rows[start - 1], read.lines[start - 1])
                rows = [[NO_VALUE if at is None else row[at] for at in places or ()] for row in read.rows[start:]]
                yield msgspec.structs.replace(read, rows=rows, lines=read.lines[start:])

    def _places(self, sheet: str, header: Row, line: int) -> Sequence[int | None]:
        """Return where another sheet has each column. Raises FileError if it does not have one."""
        names = list(map(self._clean or str, header))
        found = find_alike(self.names, names)
        if missing := [name for name in self.names if name and not found[name] and not name.endswith(LINK)]:
            shown = ", ".join(repr(truncate(name)) for name in missing[:MAX_SHEETS])
            raise FileError(f"sheet {sheet!r} does not have columns of sheet {self._sheets[0]!r}: {shown}", line)
        return [names.index(found[name][0]) if name and found[name] else None for name in self.names]

    def _sheet_rows(self, sheet: str, before: int = 0) -> Iterator[Rows]:
        """Yield the rows of a sheet that are not skipped, with their numbers; `before` are in other sheets."""
        for read in self._parts(sheet):
            self.total, self._notes[sheet] = max(self.total, before + read.last), read.notes
            stop = read.first + len(read.rows)
            first = min(max(read.first, self._skipped + 1), stop)
            place = sheet if len(self._sheets) > 1 else ""
            yield Rows(read.rows[first - read.first :], range(first, stop), before + stop - 1, sheet=place)

    def _parts(self, sheet: str) -> Iterator[SheetRows]:
        skip = 0
        if sheet == self._sheets[0]:
            yield from self._first
            skip = BATCH_SIZE
        if skip < self.total:
            yield from self._reader.parts(SheetRequest(sheet, skip, above=self._above))


def _find_sheets(names: Sequence[str], declared: Sequence[str]) -> Sequence[str]:
    """Return the declared sheets, else the first one. Raises FileError."""
    if not names:
        raise FileError("the workbook has no sheet with cells")
    if unknown := next((name for name in declared if name not in names), None):
        shown = ", ".join(repr(truncate(name)) for name in names[:MAX_SHEETS]) + ", …" * (len(names) > MAX_SHEETS)
        raise FileError(f"the workbook has no sheet {unknown!r}; its sheets are {shown}")
    return declared or names[:1]


def _issue(sheet: str, note: CellNote) -> Issue:
    one, several, what_to_do = _NOTED[note.code]
    cells = ", ".join(f"{truncate(sheet)}!{cell}" for cell in note.cells) + ", …" * (note.count > len(note.cells))
    return Issue(note.code, f"{counted(note.count, one, several)} ({cells}): {what_to_do.format(repr(note.column))}")

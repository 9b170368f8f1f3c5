"""Sheets of a workbook as a table of texts."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final

import msgspec

from service.reading.batch import BATCH_SIZE, Batch
from service.reading.columns.field_names import find_alike
from service.reading.diagnostics import FileError, Issue, WarningCode
from service.reading.formats.table_file import NO_OPTIONS, Finds, Row, Rows, TableFile, TableOptions, finds_nothing
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
    """A sheet of a workbook: the first of some names, else the first visible one."""

    has_dates = True

    def __init__(
        self, content: FileBytes | FileReader, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing
    ) -> None:
        """Read the header, of a file or through the process that has it. Raises FileError."""
        self._reader = WorkbookReader.of(content)
        opened: Sheets = self._reader.opened
        self._sheet, self._chosen = _find_sheet(opened.names, options.sheets), bool(options.sheets)
        self._others = [name for name in opened.names[: opened.visible] if name != self._sheet]
        self._skipped, self._above = options.skip_lines, None if options.columns else options.skip_lines
        self._first = list(self._reader.parts(SheetRequest(self._sheet, most=BATCH_SIZE, above=self._above)))
        self.total = self._first[0].last if self._first else 0
        if self._skipped and self._skipped >= self.total:
            rows = counted(self._skipped, "row")
            raise FileError(f"the mapping skips {rows}, but the sheet has only {self.total:,}")
        chosen = f"sheet {truncate(self._sheet)!r}, the first of {len(opened.names)}"
        super().__init__(options, finds, [] if self._chosen or len(opened.names) == 1 else [chosen])

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records, and add warnings about what is not in them. Raises FileError."""
        yield from super().batches(columns, also)
        notes = self._first[0].notes if self._first else ()
        self.warnings += [(note.row, _issue(self._sheet, note)) for note in notes if note.column not in columns]
        if not self._chosen and (alike := self.alike_sheets(_SIMILAR)):
            declared = msgspec.json.encode([self._sheet, *alike]).decode()
            others = counted(len(alike), "other sheet has such records", "other sheets have such records")
            self.warnings.append((None, Issue("sheet", f"{others}, not read: declare sheets = {declared}")))

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
        others = self._reader.parts(SheetRequest(self._sheet, BATCH_SIZE, above=self._above))
        for read in chain(self._first, others if self.total > BATCH_SIZE else ()):
            stop = read.first + len(read.rows)
            first = min(max(read.first, self._skipped + 1), stop)
            yield Rows(read.rows[first - read.first :], range(first, stop), stop - 1)


def _find_sheet(names: Sequence[str], declared: Sequence[str]) -> str:
    """Return the first of the declared sheets, all of which the workbook has, else of all. Raises FileError."""
    if not names:
        raise FileError("the workbook has no sheet with cells")
    if unknown := next((name for name in declared if name not in names), None):
        shown = ", ".join(repr(truncate(name)) for name in names[:MAX_SHEETS]) + ", …" * (len(names) > MAX_SHEETS)
        raise FileError(f"the workbook has no sheet {unknown!r}; its sheets are {shown}")
    return next(iter(declared or names))


def _issue(sheet: str, note: CellNote) -> Issue:
    one, several, what_to_do = _NOTED[note.code]
    cells = ", ".join(f"{truncate(sheet)}!{cell}" for cell in note.cells) + ", …" * (note.count > len(note.cells))
    return Issue(note.code, f"{counted(note.count, one, several)} ({cells}): {what_to_do.format(repr(note.column))}")

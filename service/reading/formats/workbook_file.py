"""A sheet of a workbook as a table of texts."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

import msgspec

from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError
from service.reading.formats.table_file import NO_OPTIONS, Finds, Row, Rows, TableFile, TableOptions, finds_nothing
from service.reading.isolation import FileReader, ReaderProgram
from service.spool import FileBytes
from service.texts import counted, truncate

UNREADABLE: Final = "not a workbook that can be read"
TOO_MUCH_MEMORY: Final = (
    f"{UNREADABLE}: it takes too much memory; delete cells that are far below the table, or far to the right of it;"
    " if there are none, save the sheet as CSV"
)
_SHOWN: Final = 20  # names of sheets


class SheetRequest(msgspec.Struct, frozen=True):
    """The sheet to read, how many of its rows to skip, and how many to read at most; None for all of them."""

    sheet: str
    skip: int = 0
    most: int | None = None


class Sheets(msgspec.Struct, frozen=True, tag=True):
    """The names of the sheets with cells: visible ones, then hidden ones."""

    names: list[str]


class SheetRows(msgspec.Struct, frozen=True, tag=True):
    """The next rows, the number of the first of them, from 1, and that of the last one of the sheet."""

    rows: Sequence[Row]
    first: int
    last: int


_PROGRAM: Final = ReaderProgram(
    module="service.reading.formats.sheet",
    unreadable=UNREADABLE,
    opened=Sheets,
    part=SheetRows,
    aborted=TOO_MUCH_MEMORY,  # Rust cannot do without memory that it asks for
)


class WorkbookFile(TableFile):
    """A sheet of a workbook: the one of some name, else the first visible one."""

    has_dates = True

    def __init__(self, content: FileBytes, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing) -> None:
        """Read the header. Raises FileError."""
        self._reader = FileReader(_PROGRAM, content)
        names: Sequence[str] = self._reader.opened.names
        self._sheet = _find_sheet(names, options.sheet)
        self._first = list(self._reader.parts(SheetRequest(self._sheet, most=BATCH_SIZE)))
        self.total = self._first[0].last if self._first else 0
        self._skipped = options.skip_lines
        if self.total <= BATCH_SIZE:
            self._reader.close()
        if self._skipped and self._skipped >= self.total:
            rows = counted(self._skipped, "row")
            raise FileError(f"the mapping skips {rows}, but the sheet has only {self.total:,}")
        chosen = f"sheet {truncate(names[0])!r}, the first of {len(names)}"
        super().__init__(options, finds, [chosen] if options.sheet is None and len(names) > 1 else [])

    def _first_rows(self) -> Rows:
        return next(map(self._numbered, self._first), Rows([], ()))

    def _rows(self) -> Iterator[Rows]:
        yield from map(self._numbered, self._first)
        if self.total > BATCH_SIZE:
            with closing(self._reader.take()) as reader:
                yield from map(self._numbered, reader.parts(SheetRequest(self._sheet, skip=BATCH_SIZE)))

    def _numbered(self, read: SheetRows) -> Rows:
        """Return rows with their numbers in the sheet, without those that are skipped."""
        stop = read.first + len(read.rows)
        first = min(max(read.first, self._skipped + 1), stop)
        return Rows(read.rows[first - read.first :], range(first, stop), done=stop - 1)


def _find_sheet(names: Sequence[str], declared: str | None) -> str:
    """Return the declared sheet, else the first one. Raises FileError."""
    if not names:
        raise FileError("the workbook has no sheet with cells")
    if declared is None or declared in names:
        return names[0] if declared is None else declared
    shown = ", ".join(repr(truncate(name)) for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
    raise FileError(f"the workbook has no sheet {declared!r}; its sheets are {shown}")

"""A sheet of a workbook as a table of texts."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from service.reading.batches.batch import BATCH_SIZE
from service.reading.batches.diagnostics import FileError
from service.reading.formats.table.missing_header import check_names
from service.reading.formats.table.rows import Rows
from service.reading.formats.table.table_file import Finds, TableFile, finds_nothing
from service.reading.formats.workbook.sheet_messages import (
    TOO_MUCH_MEMORY,
    UNREADABLE,
    SheetRequest,
    SheetRows,
    Sheets,
)
from service.reading.isolation.file_reader import FileReader, ReaderProgram
from service.texts import truncate

_PROGRAM: Final = ReaderProgram(
    module="service.reading.formats.workbook.sheet_process",
    unreadable=UNREADABLE,
    opened=Sheets,
    part=SheetRows,
    aborted=TOO_MUCH_MEMORY,  # Rust cannot do without memory that it asks for
)
_SHOWN: Final = 20  # names of sheets


class WorkbookFile(TableFile):
    """A sheet of a workbook: the one of some name, else the first visible one."""

    def __init__(self, content: bytes, sheet: str | None = None, finds: Finds = finds_nothing) -> None:
        """Read the header. Raises FileError."""
        self._content = content
        self._reader: FileReader[Sheets, SheetRows] | None = FileReader(_PROGRAM, content)
        names = self._reader.opened.names
        self._sheet = _find_sheet(names, sheet)
        self._first = list(self._reader.parts(SheetRequest(self._sheet, most=BATCH_SIZE)))
        self.total = self._first[0].last if self._first else 0
        if self.total <= BATCH_SIZE:
            self._reader.close()
        try:
            super().__init__(_describe_choice(names) if sheet is None else [])
        except FileError:
            self._check_header()
            raise
        if not finds(self.names):
            self._check_header()

    def _check_header(self) -> None:
        """Raise FileError if the first row has data instead of names."""
        for rows in map(_numbered, self._first):
            check_names(rows)

    def _rows(self) -> Iterator[Rows]:
        yield from map(_numbered, self._first)
        if self.total > BATCH_SIZE:
            with closing(self._take_reader()) as reader:
                yield from map(_numbered, reader.parts(SheetRequest(self._sheet, skip=BATCH_SIZE)))

    def _take_reader(self) -> FileReader[Sheets, SheetRows]:
        """Return the process that opened the file, another one if that has read it already."""
        reader, self._reader = self._reader, None
        return reader or FileReader(_PROGRAM, self._content)


def _numbered(read: SheetRows) -> Rows:
    stop = read.first + len(read.rows)
    return Rows(read.rows, range(read.first, stop), done=stop - 1)


def _find_sheet(names: Sequence[str], declared: str | None) -> str:
    """Return the declared sheet, else the first one. Raises FileError."""
    if not names:
        raise FileError("the workbook has no sheet with cells")
    if declared is None or declared in names:
        return names[0] if declared is None else declared
    shown = ", ".join(repr(truncate(name)) for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
    raise FileError(f"the workbook has no sheet {declared!r}; its sheets are {shown}")


def _describe_choice(names: Sequence[str]) -> Sequence[str]:
    return [f"sheet {truncate(names[0])!r}, the first of {len(names)}"] if len(names) > 1 else []

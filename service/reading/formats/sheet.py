"""Workbooks through python-calamine: of reading, only this imports it. As a program: see `isolation.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from itertools import islice
from typing import Final, TypeAlias
from zipfile import ZipFile

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError
from service.reading.formats.workbook_file import TOO_MUCH_MEMORY, UNREADABLE, SheetRequest, SheetRows, Sheets
from service.reading.isolation import run
from service.reading.text import MAX_RATIO, MAX_SIZE, ZIP_DAMAGE, check_size

Value: TypeAlias = int | float | str | bool | time | date | datetime | timedelta

_EXACT: Final = 2**53  # the first integer whose successor is no double
_OLE: Final = b"\xd0\xcf\x11\xe0"  # the container of encrypted workbooks, and of those before 2007
_MANIFEST: Final = "META-INF/manifest.xml"  # of .ods
_ENCRYPTION: Final = b"encryption-data"
_SAVE: Final = "save it as .xlsx, without a password"


def row_texts(cells: Iterable[Value]) -> list[str]:
    """Return the texts of the cells of a row."""
    return [cell if cell.__class__ is str else _TEXTS[cell.__class__](cell) for cell in cells]


def _number(number: float) -> str:
    """Return the shortest decimal that is a number, without an exponent."""
    if number.is_integer():
        return str(int(number)) if abs(number) < _EXACT else f"{Decimal(repr(number)):f}".removesuffix(".0")
    text = repr(number)
    return text if "e" not in text else f"{Decimal(text):f}"


def _duration(duration: timedelta) -> str:
    """Return a duration as a spreadsheet shows it: hours, which may be more than 24, minutes and seconds."""
    hours, rest = divmod(duration, timedelta(hours=1))
    return f"{hours:02}{str(rest)[1:]}"


_TEXTS: Final[Mapping[type, Callable[..., str]]] = {
    float: _number,
    int: str,
    bool: lambda flag: "true" if flag else "false",
    date: date.isoformat,
    # At midnight a date, as a whole number of days may be either.
    datetime: lambda instant: (instant.date() if instant.time() == time() else instant).isoformat(),
    time: time.isoformat,
    timedelta: _duration,
}


class Workbook:
    """An opened workbook, and what is in it."""

    def __init__(self, content: bytes) -> None:
        """Open a workbook. Raises FileError."""
        if content.startswith(_OLE):
            raise FileError(f"the workbook is encrypted, or in the format .xls: {_SAVE}")
        if not content.startswith(b"PK"):
            raise FileError(f"{UNREADABLE}: it does not begin like one; if it is a text, name it .csv")
        try:
            _check_archive(content)
            self._workbook = CalamineWorkbook.from_filelike(BytesIO(content))
        except (CalamineError, *ZIP_DAMAGE) as error:
            raise _unreadable(error) from None
        sheets = [sheet for sheet in self._workbook.sheets_metadata if sheet.typ is SheetTypeEnum.WorkSheet]
        sheets.sort(key=lambda sheet: sheet.visible is not SheetVisibleEnum.Visible)
        self.opened = Sheets([sheet.name for sheet in sheets])
        self._most = max(MAX_SIZE, MAX_RATIO * len(content))
        self._sheet: CalamineSheet | None = None

    def parts(self, request: SheetRequest) -> Iterator[SheetRows]:
        """Yield the rows of a sheet, empty ones included, some at a time. Raises FileError."""
        sheet, first, size = self._open_sheet(request.sheet), request.skip + 1, 0
        last = sheet.end[0] + 1 if sheet.end else 0
        stop = None if request.most is None else request.skip + request.most
        rows = map(row_texts, islice(sheet.iter_rows(), request.skip, stop))
        while some := list(islice(rows, BATCH_SIZE)):
            size += sum(len(row) + sum(map(len, row)) for row in some)
            if size > self._most:
                raise FileError(f"the sheet expands to more than 64 MiB and {MAX_RATIO} times the size of the file")
            yield SheetRows(some, first, last)
            first += len(some)

    def _open_sheet(self, name: str) -> CalamineSheet:
        if self._sheet is None or self._sheet.name != name:
            try:
                self._sheet = self._workbook.get_sheet_by_name(name)
            except CalamineError as error:
                raise _unreadable(error) from None
        return self._sheet


def _check_archive(content: bytes) -> None:
    """Raise FileError for a bomb and for an encrypted .ods, what zipfile raises for a damaged archive."""
    with ZipFile(BytesIO(content)) as archive:
        check_size(sum(info.file_size for info in archive.infolist()), stored=len(content))
        if _MANIFEST in archive.namelist() and _ENCRYPTION in archive.read(_MANIFEST):
            raise FileError(f"the workbook is encrypted: {_SAVE}")


def _unreadable(error: Exception) -> FileError:
    return FileError(f"{UNREADABLE}: it is damaged, or of another format ({error})")


if __name__ == "__main__":
    run(Workbook, SheetRequest, TOO_MUCH_MEMORY)

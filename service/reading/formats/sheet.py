"""Workbooks through python-calamine: of reading, only this imports it. As a program: see `isolation.py`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from itertools import islice
from typing import Final, TypeAlias, cast
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
_CONTENT: Final = "content.xml"  # of .ods
# What is anchored in a cell of .ods has texts of its own: images, shapes, comments.
_ANCHORED: Final = re.compile(rb"<(/?)(?:draw:|office:annotation)[^<>]*?(/?)>")
_LINE_BREAK: Final = re.compile(rb"<text:line-break ?/>")
_LONG_TIME: Final = re.compile(
    rb'office:value-type="time" office:time-value='
    rb'"PT(2[4-9]|[3-9][0-9]|[0-9]{3,9})H([0-9]{2})M([0-9]{2})(?:[.,][0-9]+)?S"'
)
# Cells of .xlsx that calamine rejects: errors of new functions, texts as numbers, unknown types.
_CELL: Final = rb'<c\b[^<>]*?\bt="'
_VALUE: Final = rb'"[^<>]*>(?:<f\b[^<>]*/>|<f\b[^<>]*>[^<]*</f>)?<v>'
_ODD_ERROR: Final = re.compile(rb"(" + _CELL + rb"e" + _VALUE + rb")[^<]*")
_ODD_NUMBER: Final = re.compile(rb"(" + _CELL + rb")n(" + _VALUE + rb")(?![+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?</v>)")
_ODD_TYPE: Final = re.compile(rb"(" + _CELL + rb')(?!(?:n|s|str|b|d|e|inlineStr)")[^"<>]*"')
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
            if content_xml := _check_archive(content):
                content = _rewritten(content, _CONTENT, _without_anchored) if _needs_rewriting(content_xml) else content
            self._workbook = CalamineWorkbook.from_filelike(BytesIO(content))
        except (CalamineError, *ZIP_DAMAGE) as error:
            raise _unreadable(error) from None
        sheets = [sheet for sheet in self._workbook.sheets_metadata if sheet.typ is SheetTypeEnum.WorkSheet]
        sheets.sort(key=lambda sheet: sheet.visible is not SheetVisibleEnum.Visible)
        self.opened = Sheets([sheet.name for sheet in sheets])
        self._most = max(MAX_SIZE, MAX_RATIO * len(content))
        self._content, self._sheet = content, cast("CalamineSheet | None", None)

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
            except CalamineError:
                self._sheet = self._open_mended(name)
        return self._sheet

    def _open_mended(self, name: str) -> CalamineSheet:
        """Return a sheet without its odd cells: errors are no values, others texts. Raises FileError."""
        try:
            mended = _rewritten(self._content, "xl/worksheets/", _without_odd_cells)
            self._workbook = CalamineWorkbook.from_filelike(BytesIO(mended))
            return self._workbook.get_sheet_by_name(name)
        except (CalamineError, *ZIP_DAMAGE) as error:
            raise _unreadable(error) from None


def _rewritten(content: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return an archive with changed files, those whose names begin with `part`."""
    written = BytesIO()
    with ZipFile(BytesIO(content)) as archive, ZipFile(written, "w") as changed:
        for info in archive.infolist():
            file = archive.read(info)
            changed.writestr(info.filename, change(file) if info.filename.startswith(part) else file)
    return written.getvalue()


def _needs_rewriting(xml: bytes) -> bool:
    return any(pattern.search(xml) for pattern in (_ANCHORED, _LINE_BREAK, _LONG_TIME))


def _without_anchored(xml: bytes) -> bytes:
    """Return the content of an .ods without what is anchored in cells; line breaks and long times are texts."""
    kept, depth, end = list[bytes](), 0, 0
    for tag in _ANCHORED.finditer(xml):
        if depth == 0:
            kept.append(xml[end : tag.start()])
        if not tag[2]:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        end = tag.end()
    text = _LINE_BREAK.sub(b"\n", b"".join([*kept, xml[end:]]))
    return _LONG_TIME.sub(rb'office:value-type="string" office:string-value="\1:\2:\3"', text)


def _without_odd_cells(xml: bytes) -> bytes:
    """Return a sheet of .xlsx in which errors are `#N/A`, and what is no number or of no known type is a text."""
    return _ODD_TYPE.sub(rb'\1str"', _ODD_NUMBER.sub(rb"\1str\2", _ODD_ERROR.sub(rb"\1#N/A", xml)))


def _check_archive(content: bytes) -> bytes:
    """Return the content of an .ods, b"" for others.

    Raises FileError for a bomb and for an encrypted .ods, what zipfile raises for a damaged archive.
    """
    with ZipFile(BytesIO(content)) as archive:
        check_size(sum(info.file_size for info in archive.infolist()), stored=len(content))
        if _MANIFEST in archive.namelist() and _ENCRYPTION in archive.read(_MANIFEST):
            raise FileError(f"the workbook is encrypted: {_SAVE}")
        return archive.read(_CONTENT) if _CONTENT in archive.namelist() else b""


def _unreadable(error: Exception) -> FileError:
    return FileError(f"{UNREADABLE}: it is damaged, or of another format ({error})")


if __name__ == "__main__":
    run(Workbook, SheetRequest, TOO_MUCH_MEMORY)

"""Workbooks through python-calamine: of reading, only this imports it. As a program: see `isolation.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from itertools import count, islice
from typing import Final, TypeAlias

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError, WarningCode
from service.reading.formats.package import END, LINKED, MARK, SAVE, links, rewritten, without_odd_cells
from service.reading.formats.workbook_file import (
    EXAMPLES,
    LINK,
    TOO_MUCH_MEMORY,
    UNREADABLE,
    CellNote,
    SheetRequest,
    SheetRows,
    Sheets,
)
from service.reading.isolation import run
from service.reading.text import ZIP_DAMAGE

Value: TypeAlias = int | float | str | bool | time | date | datetime | timedelta

_EXACT: Final = 2**53  # the first integer whose successor is no double
_OLE: Final = b"\xd0\xcf\x11\xe0"  # the container of encrypted workbooks, and of those before 2007
_CODES: Final[Mapping[str, WarningCode]] = {"f": "formula", "m": "merged", "z": "format"}  # of marks


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
    hours, rest = divmod(abs(duration), timedelta(hours=1))
    return f"{'-' * (duration < timedelta())}{hours:02}{str(rest)[1:]}"


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
        if content.startswith(_OLE):
            raise FileError(f"the workbook is encrypted, or in the format .xls: {SAVE}")
        if not content.startswith(b"PK"):
            other = "it does not begin like one; if it is a text, name it .csv"
            raise FileError(f"{UNREADABLE}: {other if content else 'the file is empty'}")
        with _file_errors():
            self._content = rewritten(content)
            self._workbook = CalamineWorkbook.from_filelike(BytesIO(self._content))
        self._is_marked = self._content is not content
        sheets = [sheet for sheet in self._workbook.sheets_metadata if sheet.typ is SheetTypeEnum.WorkSheet]
        sheets.sort(key=lambda sheet: sheet.visible is not SheetVisibleEnum.Visible)
        visible = sum(sheet.visible is SheetVisibleEnum.Visible for sheet in sheets)
        self.opened = Sheets([sheet.name for sheet in sheets], visible)
        self._sheet: CalamineSheet | None = None

    def parts(self, request: SheetRequest) -> Iterator[SheetRows]:
        """Yield the rows of a sheet, empty ones included, some at a time. Raises FileError."""
        sheet, first = self._open_sheet(request.sheet), request.skip + 1
        notes, with_links = self._notes(sheet, request.above)
        last = sheet.end[0] + 1 if sheet.end else 0
        stop = None if request.most is None else request.skip + request.most
        rows: Iterator[list[str]] = map(row_texts, islice(sheet.iter_rows(), request.skip, stop))
        if self._is_marked:
            rows = ([cell.rpartition(END)[2] if cell[:1] == MARK else cell for cell in row] for row in rows)
        while some := list(islice(rows, BATCH_SIZE)):
            if with_links is not None:
                some = list(map(with_links, count(first), some))
            yield SheetRows(some, first, last, notes)
            first += len(some)

    def _open_sheet(self, name: str) -> CalamineSheet:
        """Return a sheet, without its odd cells if these reject it. Raises FileError."""
        if self._sheet is None or self._sheet.name != name:
            try:
                self._sheet = self._workbook.get_sheet_by_name(name)
            except CalamineError:
                with _file_errors():
                    self._workbook = CalamineWorkbook.from_filelike(BytesIO(without_odd_cells(self._content)))
                    self._sheet = self._workbook.get_sheet_by_name(name)
        return self._sheet

    def _notes(
        self, sheet: CalamineSheet, above: int | None
    ) -> tuple[Sequence[CellNote], Callable[[int, list[str]], list[str]] | None]:
        """Return what the texts of a table do not say, and what adds the addresses that they link to to a row.

        `above` is the number of rows above its header, None if it has none. A row has its number, from 1.
        """
        ranges, targets = sheet.merged_cell_ranges or (), links(self._content, sheet.name)
        marks = list(_marks(sheet, targets)) if self._is_marked or targets else []
        if not (marks or ranges):
            return (), None
        rows = enumerate(islice(sheet.iter_rows(), above, None), (above or 0) + 1)
        is_named = above is not None
        header, names = next(((number, row_texts(row)) for number, row in rows if any(row) and is_named), (0, []))
        shown = {
            (row, at): mark[1:]
            for row, at, mark in marks
            if mark[:1] == LINKED and row > header and any(names[at : at + 1]) and names[at] + LINK not in names
        }
        linked = {at: names[at] + LINK for at in sorted({at for _, at in shown})}
        notes = [(_CODES[mark], "", row, _cell(row, at)) for row, at, mark in marks if mark in _CODES and row > header]
        notes += [("link", linked[at], row, _cell(row, at)) for row, at in shown]
        notes += [
            ("merged", "", top + 1, f"{_cell(top + 1, left)}:{_cell(bottom + 1, right)}")
            for (top, left), (bottom, right) in ranges
            if top >= header - 1
        ]

        def with_links(number: int, row: list[str]) -> list[str]:
            addresses = (shown.get((number, column), "") for column in linked)
            return [*row, *(linked.values() if number == header else addresses)]

        return list(_summed(notes)), with_links if linked else None


def _marks(sheet: CalamineSheet, targets: Mapping[tuple[int, int], str]) -> Iterator[tuple[int, int, str]]:
    """Yield the row, from 1, the column, from 0, and the marks of cells, the addresses too that texts link to."""
    for number, row in enumerate(sheet.iter_rows(), 1):
        for at, cell in enumerate(row):
            target = targets.get((number, at))
            if target is None and (cell.__class__ is not str or cell[:1] != MARK):
                continue
            *marks, text = str(cell).replace(MARK, "").split(END)
            marks += [] if target is None else [LINKED + target]
            is_address = not text or text.startswith(("http://", "https://"))
            for mark in marks:
                if mark[:1] != LINKED or not (is_address or text == mark.partition(":")[2]):
                    yield number, at, mark


def _summed(notes: Iterable[tuple[WarningCode, str, int, str]]) -> Iterator[CellNote]:
    """Yield notes by code and column, with the number of cells; those of a code are in order."""
    groups = dict[tuple[WarningCode, str], list[tuple[int, str]]]()
    for code, column, row, cell in notes:
        groups.setdefault((code, column), []).append((row, cell))
    for (code, column), cells in groups.items():
        yield CellNote(code, column, cells[0][0], len(cells), [cell for _, cell in cells[:EXAMPLES]])


def _cell(row: int, column: int) -> str:
    """Return the name of a cell; its row is from 1, its column from 0."""
    letters = ""
    while column >= 0:
        column, letter = column // 26 - 1, chr(ord("A") + column % 26)
        letters = letter + letters
    return f"{letters}{row}"


@contextmanager
def _file_errors() -> Iterator[None]:
    try:
        yield
    except (CalamineError, *ZIP_DAMAGE) as error:
        raise FileError(f"{UNREADABLE}: it is damaged, or of another format ({error})") from None


if __name__ == "__main__":
    run(Workbook, SheetRequest, TOO_MUCH_MEMORY)

"""Closing dates: a store is closed once the day is past on which it closes."""

from datetime import date
from typing import Final

from service.reading.batches.batch import Cell, Invalid, WrongType
from service.reading.batches.diagnostics import Issue
from service.reading.mapping.declaration import FieldMapping
from service.reading.values.closing_day import ClosingDay
from service.reading.values.converted_cells import Cells, ConvertedCells

_FLAGS: Final = {True: "true", False: "false"}
_EXAMPLE: Final = "a closing date such as 2024-05-31"


class ClosingDates:
    """Closes the stores whose closing dates are past.

    column  the column of the dates
    """

    def __init__(self, column: str, entry: FieldMapping, as_of: date) -> None:
        """Take an entry, whose values are those of the flag, or of texts that are no dates if no column has flags."""
        self.column = column
        formats = entry.dates or ()
        self._day, self._as_of = ClosingDay(formats), as_of
        self._values, self._other = ({}, None) if entry.sources else (entry.values, entry.other)
        expected = f"a closing date as {' or '.join(formats)}, as the mapping declares" if formats else _EXAMPLE
        self._issue = Issue("date", f"expected {expected}")
        self._converted = ConvertedCells(self._flag)

    def close(self, flags: Cells, dates: Cells) -> Cells:
        """Return flags, False where the closing date is past, Invalid where it is no date."""
        converted = self._converted.column([_as_text(cell) for cell in dates])
        closed = (cell is False or isinstance(cell, Invalid) for cell in converted)
        return [cell if is_closed else flag for flag, cell, is_closed in zip(flags, converted, closed, strict=True)]

    def _flag(self, text: str) -> Cell:
        meaning = self._values.get(text.casefold())
        if meaning is not None:
            return meaning
        is_past = self._day.is_past(text, self._as_of)
        if is_past is None:
            return Invalid(text, self._issue) if self._other is None else self._other
        return not is_past


def _as_text(cell: Cell) -> str | None:
    if isinstance(cell, bool):
        return _FLAGS[cell]
    return cell.text if isinstance(cell, WrongType | Invalid) else cell if isinstance(cell, str) else None

"""Cells that say that a store is closed, in columns that no field is made of."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from service.model.kinds import FLAG, parse_flag
from service.model.records import Resource
from service.reading.batches.batch import Cell
from service.reading.values.closing_day import ClosingDay
from service.reading.values.closing_names import is_day, is_status, means_closed
from service.reading.values.converted_cells import ConvertedCells
from service.reading.values.flag_words import are_hours, flag_of, has_year, is_about_opening, says_closed
from service.reading.values.possible_dates import possible_formats

MAX_TEXTS: Final = 100  # distinct ones: a column with more is free text


def has_flags(resource: Resource) -> bool:
    """Return whether the records of a resource may be closed."""
    return any(field.kind is FLAG and not field.attribute for field in resource.fields)


def speaks_by_name(name: str) -> bool:
    """Return whether a column speaks of open and closed by its name."""
    return is_status(name) or means_closed(name)


def speaks(name: str, cells: Sequence[Cell]) -> bool:
    """Return whether the cells of a column speak of open and closed stores, not of opening hours."""
    texts = {cell.strip() for cell in set(cells) if isinstance(cell, str)} - {""}
    if not 0 < len(texts) <= MAX_TEXTS or is_day(name) or any(map(are_hours, texts)):
        return False
    return is_about_opening(texts) or any(map(says_closed, texts))


class ClosedCells:
    """Recognizes the cells of one column that say that a store is closed as of a day."""

    def __init__(self, name: str, as_of: date) -> None:
        self._means_closed, self._is_status, self._as_of = means_closed(name), is_status(name), as_of
        self._converted = ConvertedCells(self._says_closed)

    def is_closed(self, cell: Cell) -> bool:
        """Return whether a cell says so. A flag does in a column such as `Closed`."""
        return self._converted[cell] is True and (self._means_closed or isinstance(cell, str))

    def _says_closed(self, text: str) -> bool:
        if not self._means_closed:
            return says_closed(text) or (self._is_status and flag_of(text) is False and parse_flag(text) is None)
        flag = flag_of(text)
        return says_closed(text) or (self._is_past(text) if flag is None else flag)

    def _is_past(self, text: str) -> bool:
        """Return whether a text is a date that is past in each format it may have, or has a year in another format."""
        found = [ClosingDay(formats).is_past(text, self._as_of) for formats in possible_formats([text]) or [()]]
        return has_year(text) if None in found else all(found)

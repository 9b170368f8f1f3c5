"""Conversions of cells, by column."""

from collections.abc import Callable, Mapping, Set as AbstractSet
from datetime import date
from typing import Final, TypeAlias

from service.model.kinds import FLAG, INSTANT, NUMBER, trim
from service.model.records import Field
from service.reading.batch import Cell, Invalid, WrongType
from service.reading.columns.dates import Cells, ConvertedCells, instant_converter
from service.reading.columns.flags import ClosingDay
from service.reading.diagnostics import Issue
from service.reading.mapping.attribute_values import AttributeReader
from service.reading.mapping.declaration import Constant, FieldMapping, ResourceMapping, SplitPart

Conversion: TypeAlias = Callable[[Cells], Cells]
_FLAGS: Final = {True: "true", False: "false"}
_POINT: Final = Issue("type", "expected a number with a decimal comma, as the mapping declares")


def conversions(field: Field, entry: FieldMapping, mapping: ResourceMapping, *, texts: bool) -> list[Conversion]:
    """Return the conversions of a field, in order; `texts` if all cells of the file are texts."""
    found: list[Conversion] = [] if entry.split is None else [by_part(entry.split)]
    if entry.values or entry.other is not None:
        found.append(_by_values(entry.values, entry.other))
    if field.kind is NUMBER and mapping.decimal == "," and entry.attribute is None:
        found.append(_convert_decimals)
    if field.kind is INSTANT and (convert := instant_converter(entry.dates or (), mapping.time_zone)) is not None:
        found.append(_of_instants(convert))
    if entry.default is not None:
        found.append(_with_default(entry.default))
    if entry.attribute is not None:
        found.append(AttributeReader(entry.attribute, dates=entry.dates or ()).column)
    elif not texts and field.kind is not FLAG:
        found.append(_without_flags)
    return found


def without(cells: Cells, texts: AbstractSet[str]) -> Cells:
    """Return cells, None for the texts that mean "no value", whatever their case and the spaces around them."""
    return [None if isinstance(cell, str) and cell.strip(" ").casefold() in texts else cell for cell in cells]


def has_value(cell: Cell) -> bool:
    """Return whether a cell has a value: blank texts have none."""
    return cell is not None and not (isinstance(cell, str) and (not cell or cell.isspace()))


def by_part(split: SplitPart) -> Conversion:
    """Return what takes a part of each text."""
    return lambda cells: [split.of(cell) if isinstance(cell, str) else cell for cell in cells]


def _by_values(values: Mapping[str, Constant], other: Constant | None) -> Conversion:
    convert = ConvertedCells(lambda text: values.get(text.casefold(), text if other is None else other)).column
    return lambda cells: convert([_FLAGS[cell] if isinstance(cell, bool) else cell for cell in cells])


def _of_instants(convert: Callable[[str], Cell]) -> Conversion:
    return lambda cells: [convert(trim(cell)) if isinstance(cell, str) and has_value(cell) else cell for cell in cells]


def _convert_decimals(cells: Cells) -> Cells:
    return [_with_point(cell) if isinstance(cell, str) else cell for cell in cells]


def _with_point(text: str) -> Cell:
    return Invalid(text, _POINT) if "." in text else text.replace(",", ".", 1)


def _with_default(default: Constant) -> Conversion:
    return lambda cells: [cell if has_value(cell) else default for cell in cells]


def _without_flags(cells: Cells) -> Cells:
    if bool not in set(map(type, cells)):  # all at once: hardly any column has them
        return cells
    return [WrongType(_FLAGS[cell]) if isinstance(cell, bool) else cell for cell in cells]


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

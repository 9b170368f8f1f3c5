"""Conversions of cells, by column."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import tzinfo
from typing import Final, TypeAlias

from service.model.kinds import FLAG, INSTANT, NUMBER, trim
from service.model.records import Field
from service.reading.batches.batch import Cell, Invalid, WrongType
from service.reading.batches.diagnostics import Issue
from service.reading.mapping.attribute_values import AttributeReader
from service.reading.mapping.declaration import AttributeOptions, Constant, FieldMapping, ResourceMapping, SplitPart
from service.reading.values.converted_cells import Cells, ConvertedCells
from service.reading.values.date_formats import instant_converter

Conversion: TypeAlias = Callable[[Cells], Cells]
_FLAGS: Final = {True: "true", False: "false"}
_POINT: Final = Issue("type", "expected a number with a decimal comma, as the mapping declares")


def conversions(field: Field, entry: FieldMapping, mapping: ResourceMapping, *, texts: bool) -> list[Conversion]:
    """Return the conversions of a field, in order; `texts` if all cells of the file are texts."""
    found: list[Conversion] = [] if entry.split is None else [by_part(entry.split)]
    if entry.attribute is not None:
        return [*found, *_of_attribute(entry, entry.attribute)]
    if entry.values or entry.other is not None:
        found.append(_by_values(entry.values, entry.other))
    if field.kind is NUMBER and mapping.decimal == ",":
        found.append(_convert_decimals)
    if field.kind is INSTANT:
        found += _of_instants(entry.dates or (), mapping.time_zone)
    if entry.default is not None:
        found.append(_with_default(entry.default))
    if not texts and field.kind is not FLAG:
        found.append(_without_flags)
    return found


def _of_attribute(entry: FieldMapping, options: AttributeOptions) -> Iterator[Conversion]:
    if entry.values or entry.other is not None:
        yield _by_values(entry.values, entry.other)
    if entry.default is not None:
        yield _with_default(entry.default)
    yield AttributeReader(options, dates=entry.dates or ()).column


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


def _of_instants(formats: Sequence[str], zone: tzinfo | None) -> list[Conversion]:
    convert = instant_converter(formats, zone)
    if convert is None:
        return []
    return [
        lambda cells: [convert(trim(cell)) if isinstance(cell, str) and has_value(cell) else cell for cell in cells]
    ]


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

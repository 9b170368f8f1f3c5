"""Check the cells of a field: each becomes a value and its normalized key, or an issue."""

import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from typing import Any, Final

import msgspec
from msgspec import UNSET

from service.engine.column import NULL_KEY, join_keys, list_key
from service.loading.fast_path import read_plain_column
from service.loading.placeholders import check_text, check_texts
from service.model.degrees import MAX_LATITUDE, MAX_LONGITUDE
from service.model.kinds import (
    FLAG,
    INSTANT,
    NUMBER,
    NUMBER_PATTERN,
    WORDS,
    Kind,
    fold,
    format_instant,
    number_key,
    parse_flag,
    parse_instant,
)
from service.model.records import Field
from service.reading.batches.batch import Cell, Invalid, Value, WrongType
from service.reading.batches.diagnostics import Issue

PARENT: Final = "parent_company_id"
UNKNOWN_PARENT: Final = Issue("parent", "no company has this identifier")
_BOUNDS: Final = {"latitude": MAX_LATITUDE, "longitude": MAX_LONGITUDE}  # degrees
_RANGES: Final = {name: (number_key(f"-{bound}"), number_key(f"{bound}")) for name, bound in _BOUNDS.items()}
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_MISSING: Final = Issue("missing", "a value is required")
_CONTROL_CHARACTER: Final = Issue("text", "control characters other than tab and line breaks are not allowed")
_NOT_AN_INSTANT: Final = Issue("date", "expected a date or date-time such as 2024-05-31T10:00:00Z")
_NOT_A_FLAG: Final = Issue("type", "expected true or false")
_NOT_A_STRING: Final = Issue("type", "expected a string")
_NOT_A_NUMBER: Final = Issue("type", "expected a string or a number")
_NOT_A_DECIMAL: Final = Issue("number", "expected a decimal such as 43.7; the value is served and compared as text")
_UNKNOWN_COMPANY: Final = Issue("company", "no served company has this identifier")


class CheckedColumn(msgspec.Struct, frozen=True, eq=False):
    """The cells of one field, checked.

    values    the value of each cell, None if it is invalid
    keys      the normalized keys of all values, in the format of `join_keys`
    errors    cell -> its error; the record is not served
    warnings  cell -> its warning; the record is served
    """

    field: Field
    cells: Sequence[Cell]
    values: Sequence[Value]
    keys: bytes
    errors: Mapping[Cell, Issue]
    warnings: Mapping[Cell, Issue]


def check_column(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return the cells of a field, checked.

    `companies` are the identifiers that the field may refer to; None skips that check.
    """
    if field.attribute:
        return _check_attribute(field, cells)
    column = _check_plain_column(field, cells, companies) or _check_cells(field, cells, companies)
    if field.kind in (FLAG, INSTANT, NUMBER):
        return column
    suspicious = check_texts(field, cells, column.keys)
    return msgspec.structs.replace(column, warnings={**column.warnings, **suspicious}) if suspicious else column


def _check_attribute(field: Field, cells: Sequence[Cell]) -> CheckedColumn:
    """Return the cells of an attribute, which were read as their kind: some are errors, or null by declaration."""
    errors, warnings = dict[Cell, Issue](), dict[Cell, Issue]()
    for cell in [cell for cell in cells if isinstance(cell, Invalid)]:
        (warnings if cell.is_null else errors)[cell] = cell.issue
    valid = [None if isinstance(cell, Invalid) else cell for cell in cells] if errors or warnings else cells
    values, keys = _ATTRIBUTES.get(field.attribute, _texts)(valid)
    suspicious = check_texts(field, cells, keys) if field.attribute == "text" else {}
    return CheckedColumn(field, cells, values, keys, errors, warnings | suspicious)


def _texts(cells: Sequence[Any]) -> tuple[Sequence[Value], bytes]:
    plain = read_plain_column(WORDS, cells)
    if plain is not None:
        return plain.values, plain.keys
    values = [cell if cell and cell.strip() else None for cell in cells]
    return values, join_keys([None if value is None else fold(value) for value in values])


def _numbers(cells: Sequence[Any]) -> tuple[Sequence[Value], bytes]:
    values = [msgspec.Raw(cell.encode()) if cell else None for cell in cells]
    plain = read_plain_column(NUMBER, cells)
    keys = join_keys([number_key(cell) if cell else None for cell in cells]) if plain is None else plain.keys
    return values, keys


def _flags(cells: Sequence[Any]) -> tuple[Sequence[Value], bytes]:
    return cells, join_keys([None if cell is None else FLAG.normalize(str(cell)) for cell in cells])


def _lists(cells: Sequence[Any]) -> tuple[Sequence[Value], bytes]:
    keys = {cell: None if cell is None else list_key(map(fold, cell)) for cell in set(cells)}
    return cells, join_keys(list(map(keys.__getitem__, cells)))


def _dates(cells: Sequence[Any]) -> tuple[Sequence[Value], bytes]:
    return cells, join_keys(cells)


_ATTRIBUTES: Final[Mapping[str, Callable[[Sequence[Any]], tuple[Sequence[Value], bytes]]]] = {
    "number": _numbers,
    "flag": _flags,
    "list": _lists,
    "date": _dates,
}


def _check_plain_column(
    field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None
) -> CheckedColumn | None:
    """Return the cells, checked all at once; None unless all of them are certainly valid."""
    plain = None if field.kind is FLAG else read_plain_column(field.kind, cells, _RANGES.get(field.name))
    if plain is None or (field.required and NULL_KEY in plain.keys):
        return None
    if companies is not None and not companies >= set(cells) - {None, ""}:
        return None
    return CheckedColumn(field, cells, plain.values, plain.keys, {}, {})


def _check_cells(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return the cells, each distinct one checked by itself."""
    values: dict[Cell, Value] = {}
    errors: dict[Cell, Issue] = {}
    for cell in dict.fromkeys(cells):
        result = _read(field, cell)
        if isinstance(result, Issue):
            errors[cell] = result
        else:
            values[cell] = result
    keys = {cell: _key(field.kind, value) for cell, value in values.items()}
    warnings = _check_range(keys, field) if field.kind is NUMBER else {}
    if companies is not None:
        unknown = [cell for cell, value in values.items() if value is not None and value not in companies]
        if field.name == PARENT:
            warnings = dict.fromkeys(unknown, UNKNOWN_PARENT)
        else:
            errors |= dict.fromkeys(unknown, _UNKNOWN_COMPANY)
    all_keys = join_keys(list(map(keys.get, cells)))
    return CheckedColumn(field, cells, list(map(values.get, cells)), all_keys, errors, warnings)


def _key(kind: Kind, value: Value) -> str | None:
    """Return the normalized key of a value, None for no value."""
    return kind.normalize(str(value)) if isinstance(value, str | bool) else None


def _check_range(keys: Mapping[Cell, str | None], field: Field) -> dict[Cell, Issue]:
    """Return the warnings of the cells that are not decimals, or not in the range of their field, by their keys."""
    least, most = _RANGES[field.name]
    outside = [cell for cell, key in keys.items() if key is not None and not least <= key <= most]
    out_of_range = Issue("range", f"expected a number from -{_BOUNDS[field.name]} to {_BOUNDS[field.name]}")
    texts = {cell: str(cell) for cell in outside}
    return {
        cell: out_of_range if NUMBER_PATTERN.fullmatch(text.strip()) else check_text(field, text) or _NOT_A_DECIMAL
        for cell, text in texts.items()
    }


def _read(field: Field, cell: Cell) -> Value | Issue:
    kind = field.kind
    if isinstance(cell, Invalid | WrongType):
        return cell.issue if isinstance(cell, Invalid) else _wrong_type(kind)
    if isinstance(cell, bool | tuple):
        return cell
    if cell is None or not cell.strip():
        return _MISSING if field.required else _no_value(kind)
    if kind is FLAG:
        flag = parse_flag(cell)
        return _NOT_A_FLAG if flag is None else flag
    if kind is INSTANT:
        instant = parse_instant(cell)
        return _NOT_AN_INSTANT if instant is None else format_instant(instant)
    return _CONTROL_CHARACTER if _CONTROL.search(cell) else cell


def _wrong_type(kind: Kind) -> Issue:
    if kind is FLAG:
        return _NOT_A_FLAG
    return _NOT_A_NUMBER if kind is NUMBER else _NOT_A_STRING


def _no_value(kind: Kind) -> Value:
    if kind is FLAG:
        return True
    return UNSET if kind is INSTANT else None

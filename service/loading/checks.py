"""The checks of a field: each cell becomes a value or a flaw, and a value its matched form."""

import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Final

import msgspec
from msgspec import UNSET

from service.engine.column import ABSENT, join_keys
from service.loading.batch import Cell, Mistyped, Value
from service.loading.fast_path import read_plain
from service.loading.faults import Flaw
from service.loading.placeholders import check_text, check_texts
from service.model.kinds import (
    FLAG,
    INSTANT,
    NUMBER,
    NUMBER_PATTERN,
    Kind,
    rank_number,
    read_flag,
    read_instant,
    write_instant,
)
from service.model.records import Field

PARENT: Final = "parent_company_id"
UNKNOWN_PARENT: Final = Flaw("parent", "no company has this identifier")
_BOUNDS: Final = {"latitude": 90, "longitude": 180}  # degrees
_RANGES: Final = {name: (rank_number(f"-{bound}"), rank_number(f"{bound}")) for name, bound in _BOUNDS.items()}
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_MISSING: Final = Flaw("missing", "a value is needed")
_CONTROLLED: Final = Flaw("text", "control characters other than tab and line breaks are not allowed")
_NO_INSTANT: Final = Flaw("date", "a date or date-time of the form 2024-05-31T10:00:00Z is needed")
_NO_FLAG: Final = Flaw("type", "true or false is needed")
_NO_TEXT: Final = Flaw("type", "a text is needed")
_NO_NUMBER: Final = Flaw("type", "a text or a number is needed")
_NO_DECIMAL: Final = Flaw("number", "a decimal such as 43.7 is expected; this is served and matched as text")
_NO_COMPANY: Final = Flaw("company", "no company that is served has this identifier")


class CheckedColumn(msgspec.Struct, frozen=True, eq=False):
    """One field of some records, checked.

    values    the value of each cell, None where it cannot be read
    keys      the matched forms of all values, as `join_keys` has them
    flaws     cell -> what is wrong with it; costs the record
    warnings  cell -> what is odd about its value; costs nothing
    """

    field: Field
    cells: Sequence[Cell]
    values: Sequence[Value]
    keys: bytes
    flaws: Mapping[Cell, Flaw]
    warnings: Mapping[Cell, Flaw]


def check_column(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return a field's cells, checked. `companies` are those that the field may refer to, None where none are known."""
    column = _check_plain(field, cells, companies) or _check_apart(field, cells, companies)
    if field.kind in (FLAG, INSTANT, NUMBER):
        return column
    odd = check_texts(field, cells, column.keys)
    return msgspec.structs.replace(column, warnings={**column.warnings, **odd}) if odd else column


def _check_plain(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn | None:
    """Return a field's cells, checked all at once, where all is well; else None."""
    plain = None if field.kind is FLAG else read_plain(field.kind, cells, _RANGES.get(field.name))
    if plain is None or (field.required and ABSENT in plain.keys):
        return None
    if companies is not None and not companies >= set(cells) - {None, ""}:
        return None
    return CheckedColumn(field, cells, plain.values, plain.keys, {}, {})


def _check_apart(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return a field's cells, each distinct one checked by itself."""
    values: dict[Cell, Value] = {}
    flaws: dict[Cell, Flaw] = {}
    for cell in dict.fromkeys(cells):
        reading = _read(field, cell)
        if isinstance(reading, Flaw):
            flaws[cell] = reading
        else:
            values[cell] = reading
    keys = {cell: _key(field.kind, value) for cell, value in values.items()}
    warnings = _outside(keys, field) if field.kind is NUMBER else {}
    if companies is not None:
        strangers = [cell for cell, value in values.items() if value is not None and value not in companies]
        if field.name == PARENT:
            warnings = dict.fromkeys(strangers, UNKNOWN_PARENT)
        else:
            flaws |= dict.fromkeys(strangers, _NO_COMPANY)
    spread_keys = join_keys(list(map(keys.get, cells)))
    return CheckedColumn(field, cells, list(map(values.get, cells)), spread_keys, flaws, warnings)


def _key(kind: Kind, value: Value) -> str | None:
    """Return the matched form of a value, None where it has none."""
    return kind.matched(str(value)) if isinstance(value, str | bool) else None


def _outside(keys: Mapping[Cell, str | None], field: Field) -> dict[Cell, Flaw]:
    """Return the cells of numbers that are not in the range of their field, by the matched forms, or not decimals."""
    least, most = _RANGES[field.name]
    outside = [cell for cell, key in keys.items() if key is not None and not least <= key <= most]
    far = Flaw("range", f"a number from -{_BOUNDS[field.name]} to {_BOUNDS[field.name]} is expected")
    texts = {cell: str(cell) for cell in outside}
    return {
        cell: far if NUMBER_PATTERN.fullmatch(text.strip()) else check_text(field, text) or _NO_DECIMAL
        for cell, text in texts.items()
    }


def _read(field: Field, cell: Cell) -> Value | Flaw:
    kind = field.kind
    if isinstance(cell, Mistyped):
        return _mistyped(kind)
    if isinstance(cell, bool):
        return cell
    if cell is None or not cell.strip():
        return _MISSING if field.required else _absent(kind)
    if kind is FLAG:
        flag = read_flag(cell)
        return _NO_FLAG if flag is None else flag
    if kind is INSTANT:
        moment = read_instant(cell)
        return _NO_INSTANT if moment is None else write_instant(moment)
    return _CONTROLLED if _CONTROL.search(cell) else cell


def _mistyped(kind: Kind) -> Flaw:
    if kind is FLAG:
        return _NO_FLAG
    return _NO_NUMBER if kind is NUMBER else _NO_TEXT


def _absent(kind: Kind) -> Value:
    if kind is FLAG:
        return True
    return UNSET if kind is INSTANT else None

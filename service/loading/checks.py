"""The checks of a field: each distinct cell becomes a value or a flaw, and a value its matched form."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from service.kinds import (
    FLAG,
    INSTANT,
    NUMBER,
    NUMBER_PATTERN,
    Kind,
    rank_instant,
    rank_number,
    read_flag,
    read_instant,
    write_instant,
)
from service.loading.batch import Cell, Mistyped
from service.loading.faults import Flaw
from service.records import Field

Value: TypeAlias = str | bool | UnsetType | None

PARENT: Final = "parent_company_id"
UNKNOWN_PARENT: Final = Flaw("parent", "no company has this identifier")
_BOUNDS: Final = {"latitude": 90, "longitude": 180}  # degrees
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

# A date-time that is answered as it is, if its date is one: most are, and dates are few.
_ANSWERED: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z")
_DATE_LENGTH: Final = len("2024-05-31")

_MISSING: Final = Flaw("missing", "a value is needed")
_CONTROLLED: Final = Flaw("text", "control characters other than tab and line breaks are not allowed")
_NO_INSTANT: Final = Flaw("date", "a date or date-time of the form 2024-05-31T10:00:00Z is needed")
_NO_FLAG: Final = Flaw("type", "true or false is needed")
_NO_TEXT: Final = Flaw("type", "a text is needed")
_NO_NUMBER: Final = Flaw("type", "a text or a number is needed")
_NO_COMPANY: Final = Flaw("company", "no company that is served has this identifier")


class Column(msgspec.Struct, frozen=True, eq=False):
    """One field of some records, checked; everything is by distinct cell.

    values    cell -> its value, where it can be read
    keys      cell -> the matched form of its value, None where it has none
    flaws     cell -> what is wrong with it; costs the record
    warnings  cell -> what is odd about its value; costs nothing
    """

    field: Field
    cells: Sequence[Cell]
    values: Mapping[Cell, Value]
    keys: Mapping[Cell, str | None]
    flaws: Mapping[Cell, Flaw]
    warnings: Mapping[Cell, Flaw]


def check_column(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> Column:
    """Return a field's cells, checked. `companies` are those that the field may refer to, None where none are known."""
    values: dict[Cell, Any] = dict(zip(cells, cells, strict=True))
    flaws: dict[Cell, Flaw] = {}
    for cell in _doubtful(field.kind, values):
        reading = _read(field, cell)
        if isinstance(reading, Flaw):
            flaws[cell] = reading
            del values[cell]
        else:
            values[cell] = reading
    keys = _keys(field.kind, values)
    warnings = _beyond(keys, _BOUNDS[field.name]) if field.name in _BOUNDS else {}
    if companies is not None:
        strangers = [cell for cell, value in values.items() if value is not None and value not in companies]
        if field.name == PARENT:
            warnings = dict.fromkeys(strangers, UNKNOWN_PARENT)
        else:
            flaws |= dict.fromkeys(strangers, _NO_COMPANY)
    return Column(field, cells, values, keys, flaws, warnings)


def _doubtful(kind: Kind, cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that may not be their own values, quickly."""
    if kind is FLAG or kind is INSTANT:
        return list(cells)
    return [cell for cell in cells if not (isinstance(cell, str) and cell.isprintable() and cell.strip())]


def _keys(kind: Kind, values: Mapping[Cell, Value]) -> Mapping[Cell, str | None]:
    if kind is FLAG:
        return {cell: kind.matched(str(value)) for cell, value in values.items()}
    matched = _rank_answered if kind is INSTANT else kind.matched
    return {cell: matched(value) if isinstance(value, str) else None for cell, value in values.items()}


def _read_instant(cell: str) -> str | Flaw:
    if _ANSWERED.fullmatch(cell) and _is_date(cell[:_DATE_LENGTH]):
        return cell
    moment = read_instant(cell)
    return _NO_INSTANT if moment is None else write_instant(moment)


@lru_cache(1 << 16)
def _is_date(text: str) -> bool:
    return read_instant(text) is not None


def _rank_answered(instant: str) -> str:
    """Return the matched form of an instant as it is answered: of one in UTC that is known without reading it again."""
    return instant[:-1] if instant.endswith("Z") else rank_instant(instant)


def _beyond(keys: Mapping[Cell, str | None], bound: int) -> dict[Cell, Flaw]:
    """Return the cells whose number lies beyond a bound, by the matched forms."""
    least, most = rank_number(f"-{bound}"), rank_number(f"{bound}")
    outside = [cell for cell, key in keys.items() if key is not None and not least <= key <= most]
    flaw = Flaw("range", f"a number from -{bound} to {bound} is expected")
    return {cell: flaw for cell in outside if NUMBER_PATTERN.fullmatch(str(cell).strip())}


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
        return _read_instant(cell)
    return _CONTROLLED if _CONTROL.search(cell) else cell


def _mistyped(kind: Kind) -> Flaw:
    if kind is FLAG:
        return _NO_FLAG
    return _NO_NUMBER if kind is NUMBER else _NO_TEXT


def _absent(kind: Kind) -> Value:
    if kind is FLAG:
        return True
    return UNSET if kind is INSTANT else None

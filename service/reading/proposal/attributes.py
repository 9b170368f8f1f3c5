"""Propose attributes for the columns that are left: as comments, so that adding one is deleting a `#`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import partial
from itertools import count
from typing import Final
from unicodedata import combining, normalize

import msgspec

from service.model.attributes import NAME, RESERVED, SEPARATOR, AttributeKind
from service.model.records import PREFIX, STORES
from service.reading.batch import Invalid
from service.reading.characters import REPAIRS
from service.reading.columns.field_names import COORDINATES, is_identifier_name, suggest_field
from service.reading.columns.flags import IS_OPEN, flag_of
from service.reading.mapping.conversions import AttributeReader
from service.reading.mapping.declaration import FieldMapping
from service.reading.mapping.toml import one_or_several, quoted, toml
from service.reading.proposal.entry import Keys, prove_formats
from service.reading.proposal.first_records import FIRST, NUMBER, ColumnSample, FirstRecords

_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})?")
_TIME: Final = re.compile("[0-9]:[0-9]{2}")
_TIMES: Final = re.compile("time|date|stamp|created|updated|modified|datum|fecha|zeit", re.IGNORECASE)
_SINCE_1970: Final = {"unix", "unix-ms"}  # formats that other numbers have, too
_BITS: Final = {"0", "1"}
# Texts of these kinds, if all have a sign of it, too.
_SIGNS: Final[Mapping[AttributeKind, re.Pattern[str]]] = {
    "image": re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#]|$)", re.IGNORECASE),
    "url": re.compile(""),
    "email": re.compile(""),
    "phone": re.compile(r"^\+"),
}
_HOW: Final = "# The columns that are left: to serve one, delete the # of its line."
_HOURS: Final = "opening_hours"
_NOT_ASCII: Final = re.compile(r"[^a-z0-9]+")
_MAX_NAME: Final = 50  # characters, so that a number has a place behind them


def _kind_keys(column: ColumnSample, first: FirstRecords, *, decimal: str) -> Keys:
    """Return the keys of the kind of a column, none for texts; `decimal` separates decimals of the stores."""
    texts, has_flags = set(column.texts), any(isinstance(cell, bool) for cell in column.values)
    is_code = _is_code(column.name) and not has_flags  # ON is a province, NO a country
    may_be_flag = not is_code and (not texts <= _BITS or texts in (_BITS, set()))  # of digits only if there are both
    if may_be_flag and _fits(column, "flag"):
        return {"kind": "flag"}
    if not has_flags:
        possible = [()] if _fits(column, "date") else prove_formats(column.texts, first)[0]
        if len(possible) == 1 and (_SINCE_1970.isdisjoint(possible[0]) or _TIMES.search(column.name)):
            return {"kind": "date", **({"date": one_or_several(possible[0])} if possible[0] else {})}
        if all(map(NUMBER.fullmatch, column.texts)) and not is_code:
            return _number(column, decimal)
        flags = {quoted(text): flag_of(text) for text in column.texts if not is_code}
        if None not in flags.values() and True in flags.values():  # Sundays are closed, but have hours elsewhere
            return {"kind": "flag", "values": flags}
    for kind, sign in _SIGNS.items():
        if all(map(sign.search, column.texts)) and _fits(column, kind):
            return {"kind": kind}
    # Separators of lists, not those between opening hours, in most texts.
    all_texts = [REPAIRS["entities"](cell) for cell in column.values if isinstance(cell, str)]
    is_list = 2 * sum(SEPARATOR in text and not _TIME.search(text) for text in all_texts) > len(all_texts)
    return {"kind": "list"} if is_list else {}


def _is_code(name: str) -> bool:
    """Return whether a name is that of numbers with which nobody calculates, as `plz` or `Code`, and of no flags."""
    fields = {suggest_field(each, STORES) for each in (name, *name.split(".")[-2:])}
    return is_identifier_name(name) or not fields <= {None, *COORDINATES, IS_OPEN.name}


def _number(column: ColumnSample, decimal: str) -> Keys:
    """Return the keys of numbers, none if they may have separated thousands."""
    if _fits(column, "number", decimal=decimal):
        return {"kind": "number"}
    if decimal == "," or all(map(_THOUSANDS.fullmatch, column.texts)) or not _fits(column, "number", decimal=","):
        return {}
    return {"kind": "number", "decimal": ","}


def _fits(column: ColumnSample, kind: AttributeKind, *, decimal: str = ".") -> bool:
    reader = AttributeReader(FieldMapping(kind=kind, decimal=decimal))
    return not any(isinstance(cell, Invalid) for cell in reader.column(column.values))


def propose_attributes(
    columns: Sequence[ColumnSample], hours: str, first: FirstRecords, *, decimal: str, paths: bool
) -> list[str]:
    """Return the lines of a mapping that declare opening hours, "" for none, and columns.

    `paths` if the names of columns are paths; `decimal` is the decimal separator of the stores.
    """
    of_hours = [f"# {_HOURS} = {hours}"] if hours else []
    taken = RESERVED | {field.name for field in STORES.fields} | {_HOURS for _ in of_hours}
    names = distinct((attribute_name(column.name) for column in columns), taken)
    keys_of = partial(_keys, first=first, decimal=decimal, paths=paths)
    lines = of_hours + [f"# {name} = {_entry(column, keys_of)}" for name, column in zip(names, columns, strict=False)]
    return [f"[{STORES.name}.attributes]", _HOW, *lines] if lines else []


def distinct(names: Iterable[str], taken: AbstractSet[str]) -> Iterator[str]:
    """Yield names, with a number if they are taken, also by those before."""
    for name in names:
        numbered = (f"{name}_{number}" for number in count(2))
        chosen = name if name not in taken else next(each for each in numbered if each not in taken)
        taken |= {chosen}
        yield chosen


def attribute_name(column: str) -> str:
    """Return the name of a column in ASCII, as that of an attribute."""
    letters = normalize("NFKD", column.removeprefix(PREFIX).removesuffix(FIRST).casefold())
    plain = "".join(letter for letter in letters if not combining(letter))
    name = _NOT_ASCII.sub("_", plain).strip("_")[:_MAX_NAME]
    return name if NAME.fullmatch(name) else f"column_{name}".strip("_")


def _entry(column: ColumnSample, keys_of: Callable[[ColumnSample], Keys]) -> str:
    """Return an attribute in TOML; if the first records show another kind, with a record that contradicts it."""
    keys, comment = keys_of(column), ""
    if column.late and (earlier := msgspec.structs.replace(column, late={}, is_late=False)).has_values:
        text, record = next((str(cell), record) for cell, record in column.late.items())
        comment = f"  # record {record:,} has {quoted(text)}" if keys_of(earlier) != keys else ""
    return f"{toml(keys)}{comment}"


def _keys(column: ColumnSample, first: FirstRecords, *, decimal: str, paths: bool) -> Keys:
    array = column.name.removesuffix(FIRST)
    is_first = array != column.name and all(isinstance(cell, str | None) for cell in column.values)  # of texts
    is_list = paths and (is_first or (column.texts and all(text.startswith("[") for text in column.texts)))
    found = {"kind": "list"} if is_list else _kind_keys(column, first, decimal=decimal)
    optional = {"optional": True} if column.is_late else {}
    return {"from": array if is_list else column.name, **found, "invalid": "null", **optional}

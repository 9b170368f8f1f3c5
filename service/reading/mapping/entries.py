"""Check the entries of a mapping: how a field is made of columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET

from service.model.attributes import MOST, MOST_TEXT, NAME, RESERVED, SEPARATOR, Attribute, field_of
from service.model.hours import DAYS
from service.model.kinds import DATE, FLAG, IDENTIFIER, INSTANT, POSTAL, WORDS
from service.model.records import PREFIX, STORES, Field, Resource
from service.reading.columns.countries import time_zones
from service.reading.columns.dates import RFC_3339, parse_date_format
from service.reading.columns.field_names import COORDINATES
from service.reading.diagnostics import FileError
from service.reading.mapping.declaration import (
    KINDS,
    SHOWN,
    AttributeTable,
    Constant,
    FieldMapping,
    FieldTable,
    JoinedColumns,
)
from service.reading.mapping.points import POINTS
from service.reading.mapping.toml import keys_of, read_table, refuse
from service.texts import did_you_mean, repeated, truncate

SOURCES: Final = ("from", "join", "first", "constant")
_MAX_FORMATS: Final = 20  # of dates, each of which is tried with each text
_NOT_WITH_A_CONSTANT: Final = ("split", "part", "pad", "default", "values", "other")
_TEXTS: Final = (IDENTIFIER, POSTAL, WORDS)
_OWN_KEYS: Final = frozenset(keys_of(AttributeTable)) - frozenset(keys_of(FieldTable))
_MAX_SEPARATOR: Final = 10  # characters
_NOT_ALWAYS: Final = {
    "separator": ("list",),
    "decimal": ("number",),
    "search": ("text", "list"),
    **dict.fromkeys(("days", "exceptions", "timezone", "holidays"), ("hours",)),
}
# Reasons of refusals, behind a key.
_SPLIT_AND_PART: Final = ': split and part need each other, as in split = ",", part = 1'
_NO_DATE: Final = ".date: not used, because the field is not a date"
_NO_POINT: Final = ".point: only latitude and longitude of stores are taken from points"
_NO_NAME: Final = ": expected a name of a-z, 0-9 and _ that begins with a letter, at most 63 characters"
_NO_TITLE: Final = f": expected from 1 to {MOST_TEXT} characters, without control characters"
_WITH_DAYS: Final = {*_OWN_KEYS, "optional"}  # that say nothing of a column


def parse_entry(entry: object, field: Field, key_path: str) -> FieldMapping:
    """Return how a field is made. Raises FileError, with the key that is wrong."""
    declared = _as_table(entry, '{ join = ["Street", "Number"] }', key_path)
    table = read_table(declared, FieldTable, key_path)
    _check_combination(declared, key_path)
    _check_values(table, field, key_path)
    return _complete(table, key_path)


def _as_table(entry: object, such_as: str, key_path: str) -> dict[str, Any]:
    if not isinstance(entry, str | dict):
        raise FileError(f"{key_path}: expected a column, or a table such as {such_as}")
    return {"from": entry} if isinstance(entry, str) else entry


def _complete(table: FieldTable, key_path: str, **own: object) -> FieldMapping:
    """Return a checked table, with its `own` values of an attribute."""
    checked = {
        "sources": _sources(table, key_path),
        "default": table.constant if table.default is None else table.default,
        "values": _folded(table.values, key_path),
        "date": None if table.date is None else parse_formats(table.date, f"{key_path}.date"),
    }
    keys: dict[str, Any] = msgspec.structs.asdict(table) | {"separator": SEPARATOR} | checked | own
    return FieldMapping(**keys)


def _check_combination(declared: Mapping[str, object], key_path: str) -> None:
    """Check that the keys are used only with those that give them a meaning."""
    sources, closes = [key for key in SOURCES if key in declared], "closing_date" in declared
    found = f", found {' and '.join(sources)}" if sources else ""
    not_used = _NOT_WITH_A_CONSTANT + (() if closes else ("date", "optional"))
    unused = [key for key in not_used if key in declared and "constant" in declared]
    reasons = {
        f": expected one of {', '.join(SOURCES)}{found}": len(sources) > 1 or not (sources or closes),
        f".{''.join(unused[:1])}: not used, because the field is a constant": unused,
        ".separator: not used, because there is no join": "separator" in declared and "join" not in declared,
        _SPLIT_AND_PART: ("split" in declared) != ("part" in declared),
    }
    refuse(key_path, reasons)


def _check_values(table: FieldTable, field: Field, key_path: str) -> None:
    """Check that the values of a flag are true or false, those of other fields texts; a required one is not empty."""
    is_flag = field.kind is FLAG
    expected, what = (bool, "true or false") if is_flag else (str, "a text in quotes")
    constants = {"constant": table.constant, "default": table.default}
    values = {f"values.{text}": value for text, value in table.values.items()}
    for key, value in {**constants, "other": table.other, **values}.items():
        expects = "empty: give it true or false" if is_flag and value == "" else f"expected {what}"
        refuse(f"{key_path}.{key}", {f": {expects}": value is not None and not isinstance(value, expected)})
    how = f'name a column, as in {field.name} = "Number"'
    is_identifier = field.name == STORES.identifier and table.constant is not None
    refuse(key_path, {f".constant: every store would get the same id: {how}": is_identifier})
    for key, value in constants.items():
        is_empty = field.required and isinstance(value, str) and not value.strip()
        refuse(f"{key_path}.{key}", {": empty, but the field is required: fill it in": is_empty})
    closes, is_text = table.closing_date is not None, field.kind in _TEXTS and field.attribute in ("", "text")
    reasons = {
        ".closing_date: only is_open of stores has a closing date": closes and (not is_flag or field.attribute),
        ".pad: not used, because the field is not a text": table.pad is not None and not is_text,
        _NO_DATE: table.date is not None and field.kind not in (INSTANT, DATE) and not closes,
        _NO_POINT: table.point is not None and field.name not in COORDINATES,
        f".point: expected one of {', '.join(POINTS)}": table.point not in (None, *POINTS),
    }
    refuse(key_path, reasons)


def _sources(table: FieldTable, key_path: str) -> tuple[JoinedColumns, ...]:
    if table.join is not None:
        separator = {} if table.separator is None else {"separator": table.separator}
        return (_source({"join": table.join, **separator}, key_path),)
    if table.column is not None:
        return (JoinedColumns((table.column,)),)
    return tuple(_source(each, f"{key_path}.first[{index}]") for index, each in enumerate(table.first or ()))


def _source(each: object, key_path: str) -> JoinedColumns:
    if isinstance(each, str):
        return JoinedColumns((each,))
    joined = read_table(each, JoinedColumns, key_path)
    check_distinct(joined.columns, f"{key_path}.join")
    return joined


def _folded(values: Mapping[str, Constant], key_path: str) -> dict[str, Constant]:
    folded: dict[str, Constant] = {}
    for text, value in values.items():
        if folded.setdefault(text.strip().casefold(), value) != value:
            raise FileError(f"{key_path}.values.{text}: has another value in another case")
    return folded


def check_distinct(names: Sequence[str], key_path: str) -> None:
    """Raise FileError if a name is repeated."""
    for name in repeated(names):
        raise FileError(f"{key_path}: {truncate(name)!r} is repeated")


def parse_formats(declared: str | Iterable[str], key_path: str) -> tuple[str, ...]:
    """Return the declared formats of dates. Raises FileError if one is not a format."""
    formats = (declared,) if isinstance(declared, str) else tuple(declared)
    refuse(key_path, {f": expected at most {_MAX_FORMATS} formats": len(formats) > _MAX_FORMATS})
    for each in formats:
        try:
            if each != RFC_3339:
                parse_date_format(each)
        except ValueError as error:
            raise FileError(f"{key_path}: {each!r}: {error}") from None
    return formats


def parse_attributes(
    entries: Mapping[str, object], resource: Resource, decimal: str, key_path: str, errors: list[FileError]
) -> tuple[tuple[Attribute, ...], dict[str, FieldMapping]]:
    """Return the attributes of a resource in their order, and how each is made; `errors` gets those of the others."""
    if len(entries) > MOST:
        errors.append(FileError(f"{key_path}: expected at most {MOST} attributes, found {len(entries)}"))
    attributes, mappings = [], {}
    for name, entry in entries.items():
        path = f"{key_path}.{name}"
        try:
            is_taken = name in RESERVED or any(name == field.name for field in resource.fields)
            refuse(path, {_NO_NAME: not NAME.fullmatch(name), ": a field of the record has this name": is_taken})
            attribute, mappings[PREFIX + name] = _parse_attribute(name, entry, decimal, path)
            attributes.append(attribute)
        except FileError as error:
            errors.append(error)
    of_hours = [attribute.name for attribute in attributes if attribute.kind == "hours"]
    why = "only one attribute of stores has opening hours"
    errors += [FileError(f"{key_path}.{name}.kind: {why}") for name in of_hours[resource.name == STORES.name :]]
    return tuple(attributes), mappings


def _parse_attribute(name: str, entry: object, decimal: str, path: str) -> tuple[Attribute, FieldMapping]:
    declared = _as_table(entry, '{ from = "Web", kind = "url" }', path)
    if not declared.keys() & {*SOURCES, "days"}:
        declared = {**declared, "from": PREFIX + name}
    table = read_table(declared, AttributeTable, path)
    _check_attribute(table, declared, path)
    is_list = table.kind == "list"
    separator = table.separator if is_list and table.separator is not None else SEPARATOR
    shown = (UNSET if each is None else each for each in (table.label, table.group, table.show))
    attribute = Attribute(name, table.kind, separator, table.search, table.filter, *shown)  # type: ignore[arg-type]
    of_field = {key: declared[key] for key in declared.keys() - _OWN_KEYS - ({"separator"} if is_list else set())}
    if table.days is None:
        _check_combination(of_field, path)
        _check_values(table, field_of(attribute), path)
    parts = _parts(table, declared, path)
    return attribute, _complete(table, path, separator=separator, decimal=table.decimal or decimal, parts=parts)


def _parts(table: AttributeTable, declared: Mapping[str, object], path: str) -> dict[str, FieldMapping]:
    if table.days is not None:
        unused = sorted(declared.keys() - _WITH_DAYS)
        reasons = {
            f".days: expected columns of {', '.join(DAYS)}": not table.days or not set(table.days) <= set(DAYS),
            f".{''.join(unused[:1])}: not used, because there are days": unused,
        }
        refuse(path, reasons)
    columns = (table.days or {}) | ({} if table.exceptions is None else {"exceptions": table.exceptions})
    parts = {name: FieldMapping.of_column(each, optional=table.optional) for name, each in columns.items()}
    if table.timezone is not None:
        zone = {"constant": table.timezone} if isinstance(table.timezone, str) else table.timezone
        parts["timezone"] = part = parse_entry(zone, Field("timezone", IDENTIFIER, ""), f"{path}.timezone")
        for text in filter(None, (part.default, part.other, *part.values.values())):
            find_time_zone(str(text), f"{path}.timezone")
    return parts


def find_time_zone(name: str, key_path: str) -> ZoneInfo:
    """Return a time zone by its name in the IANA database. Raises FileError if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder, a path out of the database, an unknown name
        raise FileError(f"{key_path}: no time zone {name!r}{did_you_mean(name, sorted(time_zones()))}") from None


def _check_attribute(table: AttributeTable, declared: Mapping[str, object], path: str) -> None:
    if table.kind not in KINDS:
        hint = did_you_mean(table.kind, KINDS) or f"; the kinds are {', '.join(KINDS)}"
        raise FileError(f"{path}.kind: no kind {table.kind!r}{hint}")
    for key in ("filter", "max_length"):
        refuse(f"{path}.{key}", {": not of kind hours": table.kind == "hours" and key in declared})
    for key, kinds in _NOT_ALWAYS.items():
        is_used = key in declared and not (key == "separator" and "join" in declared)
        refuse(f"{path}.{key}", {f": only of kind {' or '.join(kinds)}": is_used and table.kind not in kinds})
    is_separator = table.separator is None or 0 < len(table.separator) <= _MAX_SEPARATOR
    reasons = {
        f".separator: expected from 1 to {_MAX_SEPARATOR} characters": not is_separator,
        '.decimal: expected "." or ","': table.decimal not in (None, ".", ","),
        '.invalid: expected "null"': table.invalid not in (None, "null"),
        f".show: expected one of {', '.join(SHOWN)}": table.show not in (None, *SHOWN),
    }
    refuse(path, reasons)
    for key, text in {"label": table.label, "group": table.group}.items():
        is_title = text is None or (text.strip() and text.isprintable() and len(text) <= MOST_TEXT)
        refuse(f"{path}.{key}", {_NO_TITLE: not is_title})

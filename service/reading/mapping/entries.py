"""Check the entries of a mapping: how a field is made of columns."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from typing import Any, Final, get_args
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET

from service.model.attributes import (
    MOST,
    MOST_TEXT,
    NAME,
    RESERVED,
    SEPARATOR,
    Attribute,
    AttributeKind,
    Show,
    field_of,
)
from service.model.hours import DAYS
from service.model.kinds import DATE, FLAG, IDENTIFIER, INSTANT, POSTAL, WORDS
from service.model.records import PREFIX, STORES, Field, Resource
from service.reading.columns.countries import time_zones
from service.reading.columns.dates import RFC_3339, parse_date_format
from service.reading.diagnostics import FileError
from service.reading.mapping.declaration import (
    AttributeOptions,
    AttributeTable,
    Constant,
    FieldMapping,
    FieldTable,
    JoinedColumns,
    JoinTable,
    SplitPart,
)
from service.reading.mapping.points import POINTS
from service.reading.mapping.toml import join_keys, keys_of, read_table
from service.texts import did_you_mean, repeated, truncate

SOURCES: Final = ("from", "join", "first", "constant")
_MAX_FORMATS: Final = 20  # of dates, each of which is tried with each text
_MAX_TEXT: Final = 200  # characters of a text that may be in each record
_NOT_WITH_A_CONSTANT: Final = ("split", "part", "pad", "default", "values", "other")
_KINDS: Final = get_args(AttributeKind)
_TEXTS: Final = (IDENTIFIER, POSTAL, WORDS)
_SHOWN: Final = get_args(Show)
_OWN_KEYS: Final = frozenset(keys_of(AttributeTable)) - frozenset(keys_of(FieldTable))
_MAX_SEPARATOR: Final = 10  # characters
_NOT_ALWAYS: Final = {
    "separator": ("list",),
    "decimal": ("number",),
    "search": ("text", "list"),
    **dict.fromkeys(("days", "exceptions", "timezone", "holidays"), ("hours",)),
}
_WITH_DAYS: Final = {*_OWN_KEYS, "optional"}  # that say nothing of a column


def parse_entry(entry: object, field: Field, key_path: str) -> FieldMapping:
    """Return how a field is made. Raises FileError, with the key that is wrong."""
    if not isinstance(entry, str | Mapping):
        raise FileError(f'{key_path}: expected a column, or a table such as {{ join = ["Street", "Number"] }}')
    declared = {"from": entry} if isinstance(entry, str) else entry
    return _parse_field(read_table(declared, FieldTable, key_path), declared, field, key_path)


def _parse_field(table: FieldTable, declared: Mapping[str, object], field: Field, key_path: str) -> FieldMapping:
    """Return the mapping that a table with some keys declares."""
    _check_combination(declared, key_path)
    _check_values(table, field, key_path)
    _check_point(table, field, key_path)
    return FieldMapping(
        sources=_sources(table, key_path),
        split=_split(table, key_path),
        pad=table.pad or 0,
        default=table.constant if table.default is None else table.default,
        values=_folded(table.values, key_path),
        other=table.other,
        dates=None if table.date is None else parse_date_formats(table.date, f"{key_path}.date"),
        closing_date=table.closing_date,
        point=table.point or "",
        optional=table.optional,
    )


def _check_combination(declared: Mapping[str, object], key_path: str) -> None:
    """Check that the keys are used only with those that give them a meaning."""
    sources = [key for key in SOURCES if key in declared]
    closes = "closing_date" in declared
    if len(sources) > 1 or not (sources or closes):
        found = f", found {' and '.join(sources)}" if sources else ""
        raise FileError(f"{key_path}: expected one of {', '.join(SOURCES)}{found}")
    not_used = _NOT_WITH_A_CONSTANT + (() if closes else ("date", "optional"))
    if "constant" in declared and (unused := [key for key in not_used if key in declared]):
        raise FileError(f"{key_path}.{unused[0]}: not used, because the field is a constant")
    if "separator" in declared and "join" not in declared:
        raise FileError(f"{key_path}.separator: not used, because there is no join")
    if ("split" in declared) != ("part" in declared):
        raise FileError(f'{key_path}: split and part need each other, as in split = ",", part = 1')


def _check_values(table: FieldTable, field: Field, key_path: str) -> None:
    """Check that the values of a flag are true or false, those of other fields texts; a required one is not empty."""
    is_flag = field.kind is FLAG
    expected, what = (bool, "true or false") if is_flag else (str, "a text in quotes")
    constants = {"constant": table.constant, "default": table.default}
    values = {f"values.{text}": value for text, value in table.values.items()}
    for key, value in {**constants, "other": table.other, **values}.items():
        if value is not None and not isinstance(value, expected):
            expects = "empty: give it true or false" if is_flag and value == "" else f"expected {what}"
            raise FileError(f"{key_path}.{key}: {expects}")
        _check_length(value, f"{key_path}.{key}")
    if field.name == STORES.identifier and table.constant is not None:
        how = f'name a column, as in {field.name} = "Number"'
        raise FileError(f"{key_path}.constant: every store would get the same id: {how}")
    for key, value in constants.items():
        if field.required and isinstance(value, str) and not value.strip():
            raise FileError(f"{key_path}.{key}: empty, but the field is required: fill it in")
    if table.closing_date is not None and (not is_flag or field.attribute):
        raise FileError(f"{key_path}.closing_date: only is_open of stores has a closing date")
    if table.pad is not None and (field.kind not in _TEXTS or field.attribute not in ("", "text")):
        raise FileError(f"{key_path}.pad: not used, because the field is not a text")
    if table.closing_date == "":
        raise FileError(f"{key_path}.closing_date: expected the name of a column")
    if table.date is not None and field.kind not in (INSTANT, DATE) and table.closing_date is None:
        raise FileError(f"{key_path}.date: not used, because the field is not a date")


def _check_point(table: FieldTable, field: Field, key_path: str) -> None:
    if table.point is not None and field.name not in ("latitude", "longitude"):
        raise FileError(f"{key_path}.point: only latitude and longitude of stores are taken from points")
    if table.point not in (None, *POINTS):
        raise FileError(f"{key_path}.point: expected one of {', '.join(POINTS)}")


def _sources(table: FieldTable, key_path: str) -> tuple[JoinedColumns, ...]:
    if table.column is not None:
        return (JoinedColumns((table.column,)),)
    if table.join is not None:
        return (_joined(table.join, " " if table.separator is None else table.separator, f"{key_path}.join"),)
    if table.first == []:
        raise FileError(f"{key_path}.first: expected at least one column")
    return tuple(
        _source(each, join_keys(key_path, "first", f"[{index}]")) for index, each in enumerate(table.first or ())
    )


def _source(each: object, key_path: str) -> JoinedColumns:
    if isinstance(each, str):
        return JoinedColumns((each,))
    table = read_table(each, JoinTable, key_path)
    return _joined(table.join, table.separator, f"{key_path}.join")


def _joined(columns: list[str], separator: str, key_path: str) -> JoinedColumns:
    if not columns:
        raise FileError(f"{key_path}: expected at least one column")
    check_distinct(columns, key_path)
    _check_length(separator, f"{key_path.removesuffix('join')}separator")
    return JoinedColumns(tuple(columns), separator)


def _split(table: FieldTable, key_path: str) -> SplitPart | None:
    if table.split is None or table.part is None:
        return None
    if not table.split:
        raise FileError(f"{key_path}.split: expected the text between the two parts")
    _check_length(table.split, f"{key_path}.split")
    return SplitPart(table.split, table.part)


def _check_length(text: object, key_path: str) -> None:
    if isinstance(text, str) and len(text) > _MAX_TEXT:
        raise FileError(f"{key_path}: longer than {_MAX_TEXT} characters")


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


def parse_date_formats(declared: str | Iterable[str], key_path: str) -> tuple[str, ...]:
    """Return the declared formats of dates. Raises FileError if one is not a format."""
    formats = (declared,) if isinstance(declared, str) else tuple(declared)
    if len(formats) > _MAX_FORMATS:
        raise FileError(f"{key_path}: expected at most {_MAX_FORMATS} formats")
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
    taken = RESERVED | {field.name for field in resource.fields}
    attributes, mappings = [], {}
    for name, entry in entries.items():
        path = f"{key_path}.{name}"
        try:
            _check_name(name, taken, path)
            attribute, mappings[PREFIX + name] = _parse_attribute(name, entry, decimal, path)
            attributes.append(attribute)
        except FileError as error:
            errors.append(error)
    of_hours = [attribute.name for attribute in attributes if attribute.kind == "hours"]
    errors += [
        FileError(f"{key_path}.{name}.kind: only one attribute of stores has opening hours")
        for name in of_hours[resource.name == STORES.name :]
    ]
    return tuple(attributes), mappings


def _check_name(name: str, taken: AbstractSet[str], path: str) -> None:
    if NAME.fullmatch(name) is None:
        raise FileError(f"{path}: expected a name of a-z, 0-9 and _ that begins with a letter, at most 63 characters")
    if name in taken:
        raise FileError(f"{path}: a field of the record has this name")


def _parse_attribute(name: str, entry: object, decimal: str, path: str) -> tuple[Attribute, FieldMapping]:
    if not isinstance(entry, str | dict):
        raise FileError(f'{path}: expected a column, or a table such as {{ from = "Web", kind = "url" }}')
    declared: dict[str, Any] = {"from": entry} if isinstance(entry, str) else entry
    if not declared.keys() & {*SOURCES, "days"}:
        declared = {**declared, "from": PREFIX + name}
    table = read_table(declared, AttributeTable, path)
    if table.kind not in _KINDS:
        hint = did_you_mean(table.kind, _KINDS) or f"; the kinds are {', '.join(_KINDS)}"
        raise FileError(f"{path}.kind: no kind {table.kind!r}{hint}")
    _check(table, declared, path)
    is_list = table.kind == "list"
    separator = table.separator if is_list and table.separator is not None else SEPARATOR
    shown = (UNSET if each is None else each for each in (table.label, table.group, table.show))
    attribute = Attribute(name, table.kind, separator, table.search, table.filter, *shown)  # type: ignore[arg-type]
    of_field = {key: declared[key] for key in declared.keys() - _OWN_KEYS - ({"separator"} if is_list else set())}
    options = AttributeOptions(
        kind=attribute.kind,
        separator=separator,
        decimal=table.decimal or decimal,
        max_length=table.max_length,
        is_null_if_invalid=table.invalid is not None,
        holidays=None if table.holidays is None else tuple(table.holidays),
    )
    field, parts = field_of(attribute), _parts(table, declared, path)
    mapping = FieldMapping(optional=table.optional) if table.days else _parse_field(table, of_field, field, path)
    return attribute, msgspec.structs.replace(mapping, attribute=options, parts=parts)


def _parts(table: AttributeTable, declared: Mapping[str, object], path: str) -> dict[str, FieldMapping]:
    """Return how the parts of opening hours are made: days in columns of their own, exceptions and the time zone."""
    columns = {**(table.days or {}), **({} if table.exceptions is None else {"exceptions": table.exceptions})}
    if table.days is not None:
        if not table.days or not set(table.days) <= set(DAYS):
            raise FileError(f"{path}.days: expected columns of {', '.join(DAYS)}")
        if unused := sorted(declared.keys() - _WITH_DAYS):
            raise FileError(f"{path}.{unused[0]}: not used, because there are days")
    parts = {
        name: FieldMapping(sources=(JoinedColumns((column,)),), optional=table.optional)
        for name, column in columns.items()
    }
    if table.timezone is not None:
        key_path = f"{path}.timezone"
        zone = {"constant": table.timezone} if isinstance(table.timezone, str) else table.timezone
        part = parse_entry(zone, Field("timezone", IDENTIFIER, ""), key_path)
        for text in filter(None, (part.default, part.other, *part.values.values())):
            find_time_zone(str(text), key_path)
        parts["timezone"] = part
    return parts


def find_time_zone(name: str, key_path: str) -> ZoneInfo:
    """Return a time zone by its name in the IANA database. Raises FileError if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder, a path out of the database, an unknown name
        raise FileError(f"{key_path}: no time zone {name!r}{did_you_mean(name, sorted(time_zones()))}") from None


def _check(table: AttributeTable, declared: Mapping[str, object], path: str) -> None:
    """Check the keys that only attributes have."""
    if table.kind == "hours" and (wrong := [key for key in ("filter", "max_length") if key in declared]):
        raise FileError(f"{path}.{wrong[0]}: not of kind hours")
    for key, kinds in _NOT_ALWAYS.items():
        if key in declared and table.kind not in kinds and not (key == "separator" and "join" in declared):
            raise FileError(f"{path}.{key}: only of kind {' or '.join(kinds)}")
    if table.separator is not None and not 0 < len(table.separator) <= _MAX_SEPARATOR:
        raise FileError(f"{path}.separator: expected from 1 to {_MAX_SEPARATOR} characters")
    if table.decimal not in (None, ".", ","):
        raise FileError(f'{path}.decimal: expected "." or ","')
    if table.invalid not in (None, "null"):
        raise FileError(f'{path}.invalid: expected "null"')
    if table.show not in (None, *_SHOWN):
        raise FileError(f"{path}.show: expected one of {', '.join(_SHOWN)}")
    for key, text in {"label": table.label, "group": table.group}.items():
        if text is not None and not (text.strip() and text.isprintable() and len(text) <= MOST_TEXT):
            raise FileError(f"{path}.{key}: expected from 1 to {MOST_TEXT} characters, without control characters")

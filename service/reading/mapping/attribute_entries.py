"""Check the entries of attributes: what is declared of each, and how it is made of columns."""

from collections.abc import Mapping
from typing import Any, Final, get_args

import msgspec

from service.model.attributes import MOST, NAME, RESERVED, SEPARATOR, Attribute, AttributeKind, field_of
from service.model.records import PREFIX, Resource
from service.reading.batches.diagnostics import FileError
from service.reading.mapping.declaration import AttributeOptions, AttributeTable, FieldMapping
from service.reading.mapping.entries import SOURCES, parse_entry
from service.reading.mapping.toml_keys import read_table
from service.suggestion import did_you_mean

_KINDS: Final = get_args(AttributeKind)
# The keys that say nothing of columns.
_OWN_KEYS: Final = frozenset({"kind", "separator", "decimal", "invalid", "max_length", "search", "filter"})
_MAX_SEPARATOR: Final = 10  # characters
_NOT_ALWAYS: Final = {"separator": ("list",), "decimal": ("number",), "search": ("text", "list")}


def parse_attributes(
    entries: Mapping[str, object], resource: Resource, decimal: str, key_path: str
) -> tuple[tuple[Attribute, ...], dict[str, FieldMapping]]:
    """Return the attributes of a resource in their order, and how each is made. Raises FileError."""
    if len(entries) > MOST:
        raise FileError(f"{key_path}: expected at most {MOST} attributes, found {len(entries)}")
    taken = RESERVED | {field.name for field in resource.fields}
    attributes, mappings = [], {}
    for name, entry in entries.items():
        path = f"{key_path}.{name}"
        if NAME.fullmatch(name) is None:
            raise FileError(
                f"{path}: expected a name of a-z, 0-9 and _ that begins with a letter, at most 63 characters"
            )
        if name in taken:
            raise FileError(f"{path}: a field of the record has this name")
        attribute, mappings[PREFIX + name] = _parse(name, entry, decimal, path)
        attributes.append(attribute)
    return tuple(attributes), mappings


def _parse(name: str, entry: object, decimal: str, path: str) -> tuple[Attribute, FieldMapping]:
    declared: Mapping[str, Any] = (
        {"from": entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
    )
    if not isinstance(entry, str | dict):
        raise FileError(f'{path}: expected a column, or a table such as {{ from = "Web", kind = "url" }}')
    table = read_table(declared, AttributeTable, path)
    if table.kind not in _KINDS:
        hint = did_you_mean(table.kind, _KINDS) or f"; the kinds are {', '.join(_KINDS)}"
        raise FileError(f"{path}.kind: no kind {table.kind!r}{hint}")
    _check(table, declared, path)
    is_list = table.kind == "list"
    attribute = Attribute(
        name,
        table.kind,  # type: ignore[arg-type]
        table.separator if is_list and isinstance(table.separator, str) else SEPARATOR,
        table.search,
        table.filter,
    )
    own = _OWN_KEYS - (set() if is_list else {"separator"})
    made = {key: value for key, value in declared.items() if key not in own}
    if not any(key in made for key in SOURCES):
        made["from"] = PREFIX + name
    if is_list and "join" in made:
        made["separator"] = attribute.separator
    mapping = parse_entry(made, field_of(attribute), path)
    options = AttributeOptions(
        kind=attribute.kind,
        separator=attribute.separator,
        decimal=table.decimal or decimal,
        max_length=table.max_length,
        is_null_if_invalid=table.invalid is not None,
    )
    return attribute, msgspec.structs.replace(mapping, attribute=options)


def _check(table: AttributeTable, declared: Mapping[str, object], path: str) -> None:
    """Check the keys that only attributes have."""
    for key, kinds in _NOT_ALWAYS.items():
        if key in declared and table.kind not in kinds and not (key == "separator" and "join" in declared):
            raise FileError(f"{path}.{key}: only of kind {' or '.join(kinds)}")
    if isinstance(table.separator, str) and not 0 < len(table.separator) <= _MAX_SEPARATOR:
        raise FileError(f"{path}.separator: expected from 1 to {_MAX_SEPARATOR} characters")
    if table.decimal not in (None, ".", ","):
        raise FileError(f'{path}.decimal: expected "." or ","')
    if table.invalid not in (None, "null"):
        raise FileError(f'{path}.invalid: expected "null"')

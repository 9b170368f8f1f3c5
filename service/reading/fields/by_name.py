"""Match columns to fields by name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.model.records import Resource
from service.reading.batches.diagnostics import FileError
from service.texts import printable, truncate

_IGNORED: Final = re.compile(r"[\s_-]+")
# Columns of formats of geographic features, for fields that no column is named like.
_FEATURE_ID: Final = "feature.id"
_GEOMETRY: Final = "geometry."


def columns_by_name(names: Sequence[str], resource: Resource, fields: Sequence[str]) -> dict[str, str]:
    """Return the column of each of some fields that has one: of its exact name, or with other case and separators.

    Raises FileError if a field has two columns of the second kind.
    """
    columns = _find_columns(names, fields)
    if resource.coordinates is None:
        return columns
    if resource.identifier in fields and resource.identifier not in columns and _FEATURE_ID in names:
        columns[resource.identifier] = _FEATURE_ID
    # Never mix a latitude column with a longitude from the geometry.
    if columns.keys().isdisjoint(resource.coordinates) and set(fields) >= set(resource.coordinates):
        geometry = {field: f"{_GEOMETRY}{field}" for field in resource.coordinates}
        columns |= {field: column for field, column in geometry.items() if column in names}
    return columns


def has_exact_names(names: Iterable[str], resource: Resource) -> bool:
    """Return whether each required field of a resource has a column of exactly its name, if there are such fields."""
    required = {field.name for field in resource.fields if field.required}
    return bool(required) and required.issubset(names)


def describe_renamed(columns: Mapping[str, str]) -> list[str]:
    """Return the columns that are not named exactly like their fields, as one text if there are any."""
    renamed = [f"{_quoted(column)} → {field}" for field, column in columns.items() if column != field]
    return [f"columns {', '.join(renamed)}"] if renamed else []


def column_key(name: str) -> str:
    """Return the name of a column without what does not matter: case, spaces, underscores and hyphens."""
    return _IGNORED.sub("", name).casefold()


def _find_columns(names: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    exact, alike = set(names), _by_key(names, map(column_key, fields))
    columns = {}
    for field in fields:
        found = [field] if field in exact else alike[column_key(field)]
        if len(found) > 1:
            raise FileError(f"{' and '.join(map(_quoted, found[:2]))} are both columns of {field}: rename one")
        if found:
            columns[field] = found[0]
    return columns


def _by_key(names: Iterable[str], keys: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {key: [] for key in keys}
    for name in names:
        if (key := column_key(name)) in found:
            found[key].append(name)
    return found


def _quoted(name: str) -> str:
    return f'"{printable(truncate(name))}"'

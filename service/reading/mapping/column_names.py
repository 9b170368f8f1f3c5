"""Find the columns that a mapping names in a file."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Final

import msgspec

from service.model.records import PREFIX, STORES, Resource
from service.reading.batches.diagnostics import FileError
from service.reading.fields.by_name import column_key, columns_by_name, has_exact_names
from service.reading.fields.field_names import MAX_UNUSED, suggest_field
from service.reading.mapping.declaration import NO_MAPPING, FieldMapping, JoinedColumns, ResourceMapping
from service.reading.mapping.toml_text import inline_table, quoted
from service.texts import truncate

_MAX_COMPARED: Final = 1_000  # names, with a name that is missing; a header may have millions


def resolve_columns(
    names: Sequence[str], mapping: ResourceMapping, resource: Resource, *, is_table: bool, by_name: bool
) -> dict[str, FieldMapping]:
    """Return how each field is made, with the names of columns as the file has them: all of them if it is a table.

    A field without an entry is taken from the column of its name if `by_name`; fields without columns are left out.
    Raises FileError if the file has no such column.
    """
    others = [field.name for field in resource.fields if by_name and field.name not in mapping.fields]
    finder = _Finder(names, mapping, is_table=is_table)
    resolved = _as_columns(_named_like(others, names, mapping, resource, is_table=is_table))
    for field, entry in mapping.fields.items():
        sources = tuple(filter(None, (finder.source(field, each, entry) for each in entry.sources)))
        closing_date = entry.closing_date and finder.column(field, entry.closing_date, entry)
        if sources or closing_date or entry.default is not None:
            resolved[field] = msgspec.structs.replace(entry, sources=sources, closing_date=closing_date)
    finder.check()
    if is_table or mapping == NO_MAPPING:
        _check_required(resolved, mapping, names, resource)
    # Later records may have other members than the first ones.
    return resolved if is_table else _as_columns({name: name for name in others}) | resolved


def has_columns(names: Sequence[str], *, mapping: ResourceMapping, resource: Resource) -> bool:
    """Return whether a table with some columns has those that a mapping and the required fields need."""
    try:
        resolve_columns(names, mapping, resource, is_table=True, by_name=True)
    except FileError:
        return False
    return True


def _named_like(
    fields: Sequence[str], names: Sequence[str], mapping: ResourceMapping, resource: Resource, *, is_table: bool
) -> dict[str, str]:
    """Return the columns of fields by their names, whose case and separators do not matter.

    They do in a table without a mapping in which all required columns have exact names: it always loaded like that.
    """
    if is_table and not mapping.maps_fields and has_exact_names(names, resource):
        exact = set(names)
        return {field: field for field in fields if field in exact}
    return columns_by_name(names, resource, fields)


def _as_columns(columns: Mapping[str, str]) -> dict[str, FieldMapping]:
    return {field: FieldMapping(sources=(JoinedColumns((column,)),)) for field, column in columns.items()}


class _Finder:
    """Finds columns in a file, and collects those that are missing."""

    def __init__(self, names: Sequence[str], mapping: ResourceMapping, *, is_table: bool) -> None:
        self._names, self._is_table, self._entries = names, is_table, mapping.fields
        self._missing: list[str] = []

    @cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset(self._names)

    @cached_property
    def _similar(self) -> Mapping[str, Sequence[str]]:
        similar: dict[str, list[str]] = {}
        for name in self._names:
            similar.setdefault(column_key(name), []).append(name)
        return similar

    def source(self, field: str, source: JoinedColumns, entry: FieldMapping) -> JoinedColumns | None:
        """Return columns as the file names them; None if it has none of them and they are optional."""
        columns = tuple(filter(None, (self.column(field, each, entry) for each in source.columns)))
        return JoinedColumns(columns, source.separator) if columns else None

    def column(self, field: str, name: str, entry: FieldMapping) -> str | None:
        """Return a column as the file names it; None if it has none like it and it is optional."""
        if name in self._exact:
            return name
        if not self._is_table and any(each.startswith(f"{name}.") for each in self._names):
            return name  # an array, or an object
        similar = self._similar.get(column_key(name), [])
        if len(similar) == 1:
            return similar[0]
        if not entry.optional:
            hint = self._hint(name, similar) or self._constant_hint(name, field, entry)
            self._missing.append(f"{truncate(name)!r} (of {field}{hint})")
        return name if not self._is_table else None

    def _hint(self, name: str, similar: Sequence[str]) -> str:
        if similar:
            return f"; use one of {', '.join(map(repr, similar[:3]))}"
        if name.startswith(PREFIX) and name in self._entries:
            return "; name a column of the file with `from`"
        if name in self._entries:
            return "; that is a field of the service; name a column of the file"
        if near := get_close_matches(name, self._names[:_MAX_COMPARED], n=1):
            return f"; did you mean {near[0]!r}?"
        return "" if self._is_table else "; if only some records have it, declare it optional"

    def _constant_hint(self, name: str, field: str, entry: FieldMapping) -> str:
        """Return how to write what may be meant as a value; "" if a table with columns is declared."""
        if field == STORES.identifier or entry != FieldMapping(sources=(JoinedColumns((name,)),)):
            return ""
        return f"; a value of all records is {inline_table({'constant': quoted(truncate(name))})}"

    def check(self) -> None:
        """Raise FileError if columns are missing."""
        if self._missing:
            raise FileError(f"the mapping names columns that the file does not have: {', '.join(self._missing)}")


def _check_required(
    resolved: Mapping[str, FieldMapping], mapping: ResourceMapping, names: Sequence[str], resource: Resource
) -> None:
    """Raise FileError if a required field is made of nothing, with the columns that may be meant."""
    missing = [field.name for field in resource.fields if field.required and field.name not in resolved]
    if missing:
        used = {column for entry in resolved.values() for source in entry.sources for column in source.columns}
        unused = [name for name in names if name not in used][:MAX_UNUSED]
        candidates = {suggest_field(name, resource): truncate(name) for name in unused}
        described = ", ".join(_describe(field, mapping, candidates) for field in missing)
        raise FileError(f"missing columns: {described}{_what_to_do(mapping, resource)}")


def _what_to_do(mapping: ResourceMapping, resource: Resource) -> str:
    if mapping.maps_fields:
        return "; add an entry for each"
    hint = "; `store-directory mapping` proposes a mapping of other columns, `--mapping` uses it"
    return hint if resource.name == STORES.name else ""


def _describe(field: str, mapping: ResourceMapping, candidates: Mapping[str | None, str]) -> str:
    if field in candidates:
        return f"{field} ({'map it to' if mapping.maps_fields else 'rename'} {candidates[field]!r}?)"
    entry = mapping.fields.get(field, FieldMapping())
    expected = [repr(column) for source in entry.sources for column in source.columns]
    return f"{field} (expected {' or '.join(expected)})" if expected else field

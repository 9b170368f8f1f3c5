"""Apply a mapping to the records of a file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from difflib import get_close_matches
from itertools import chain, repeat
from typing import Final, TypeAlias

import msgspec

from service.model.hours import DAYS
from service.model.kinds import trim
from service.model.records import PREFIX, STORES, Field, Resource
from service.reading.batch import Batch, Cell, RecordFile, WrongType, written
from service.reading.columns.dates import RFC_3339, Cells
from service.reading.columns.field_names import MAX_UNUSED, columns_by_name, describe_renamed, find_alike, suggest_field
from service.reading.columns.flags import IS_OPEN, status_columns, utc_today
from service.reading.diagnostics import FileError
from service.reading.hours.reader import HoursReader
from service.reading.mapping.conversions import (
    AttributeReader,
    Conversion,
    closer,
    concatenated,
    conversions,
    has_value,
    without,
)
from service.reading.mapping.declaration import NO_MAPPING, FieldMapping, JoinedColumns, ResourceMapping
from service.reading.mapping.points import located_columns
from service.reading.mapping.toml import toml
from service.texts import truncate

COUNTRY: Final = "country"
_MAX_NAMES: Final = 1_000  # that are compared; a header may have millions
_Columns: TypeAlias = Mapping[str, Cells]


def resolve_columns(
    names: Sequence[str], mapping: ResourceMapping, resource: Resource, *, is_table: bool, by_name: bool
) -> dict[str, FieldMapping]:
    """Return how each field is made, with the names of columns as the file has them: all of them if it is a table.

    A field without an entry is taken from the column of its name if `by_name`, whose case and separators do not matter,
    except in a table without a mapping in which all required columns have exact names. Fields without columns are left
    out. Raises FileError if the file has no such column.
    """
    others = [field.name for field in resource.fields if by_name and field.name not in mapping.fields]
    finder = _Finder(names, mapping, is_table=is_table)
    exact, required = set(names), {field.name for field in resource.fields if field.required}
    if is_table and not mapping.maps_fields and required and required <= exact:
        resolved = _as_columns({field: field for field in others if field in exact})  # it always loaded like that
    else:
        resolved = _as_columns(columns_by_name(names, resource, others))
    for field, entry in mapping.fields.items():
        if (found := finder.entry(field, entry)) is not None:
            resolved[field] = found
    if finder.missing and (is_table or names):  # JSON without records has no columns
        raise FileError(f"the mapping names columns that the file does not have: {', '.join(finder.missing)}")
    if is_table or (mapping == NO_MAPPING and names):
        _check_required(resolved, mapping, names, resource)
    # Later records may have other members than the first ones.
    return resolved if is_table else _as_columns({name: name for name in others}) | resolved


def has_columns(names: Sequence[str], *, mapping: ResourceMapping, resource: Resource) -> bool:
    """Return whether a table with some columns has those that a mapping and the required fields need."""
    with suppress(FileError):
        resolve_columns(names, mapping, resource, is_table=True, by_name=True)
        return True
    return False


def _as_columns(columns: Mapping[str, str]) -> dict[str, FieldMapping]:
    return {field: FieldMapping.of_column(column) for field, column in columns.items()}


class _Finder:
    """Finds columns in a file, and collects the `missing` ones, each with a hint."""

    def __init__(self, names: Sequence[str], mapping: ResourceMapping, *, is_table: bool) -> None:
        self._names, self._is_table, self._entries = names, is_table, mapping.fields
        self._alike = find_alike([name for entry in mapping.fields.values() for name in entry.columns], names)
        self.missing: list[str] = []

    def entry(self, field: str, entry: FieldMapping) -> FieldMapping | None:
        """Return how a field is made of columns as the file names them; None if it has none of them."""
        found = [([self.column(field, name, entry) for name in each.columns], each) for each in entry.sources]
        sources = [JoinedColumns(tuple(filter(None, names)), each.separator) for names, each in found if any(names)]
        closing_date = entry.closing_date and self.column(field, entry.closing_date, entry)
        parts = {name: part for name, each in entry.parts.items() if (part := self.entry(field, each)) is not None}
        is_made = sources or closing_date or parts or entry.default is not None
        changes = {"sources": tuple(sources), "closing_date": closing_date, "parts": parts}
        return msgspec.structs.replace(entry, **changes) if is_made else None

    def column(self, field: str, name: str, entry: FieldMapping) -> str | None:
        """Return a column as the file names it; None if it has none like it and it is optional."""
        similar = self._alike[name]
        if similar != [name] and not self._is_table and any(each.startswith(f"{name}.") for each in self._names):
            return name  # an array, or an object
        if len(similar) == 1:
            return similar[0]
        if not entry.optional:
            self.missing.append(f"{truncate(name)!r} (of {field}{self._hint(name, field, entry)})")
        return name if not self._is_table else None

    def _hint(self, name: str, field: str, entry: FieldMapping) -> str:
        if similar := self._alike[name]:
            return f"; use one of {', '.join(map(repr, similar[:3]))}"
        if name.startswith(PREFIX) and name in self._entries:
            return "; name a column of the file with `from`"
        if name in self._entries:
            return "; that is a field of the service; name a column of the file"
        if near := get_close_matches(name, self._names[:_MAX_NAMES], n=1):
            return f"; did you mean {near[0]!r}?"
        is_plain = field != STORES.identifier and entry == FieldMapping.of_column(name)
        constant = f"; a value of all records is {toml({'constant': truncate(name)})}"
        optional = "; if only some records have it, declare it optional"
        return optional if not self._is_table else constant if is_plain else ""


def _check_required(
    resolved: Mapping[str, FieldMapping], mapping: ResourceMapping, names: Sequence[str], resource: Resource
) -> None:
    missing = [field.name for field in resource.fields if field.required and field.name not in resolved]
    if missing:
        used = {column for entry in resolved.values() for column in entry.columns}
        unused = [name for name in names if name not in used][:MAX_UNUSED]
        candidates = {suggest_field(name, resource): truncate(name) for name in unused}
        described = ", ".join(_describe(field, mapping, candidates) for field in missing)
        hint = "; `store-directory mapping` proposes a mapping of other columns, `--mapping` uses it"
        of_stores = hint if resource.name == STORES.name else ""
        what_to_do = "; add an entry for each" if mapping.maps_fields else of_stores
        raise FileError(f"missing columns: {described}{what_to_do}")


def _describe(field: str, mapping: ResourceMapping, candidates: Mapping[str | None, str]) -> str:
    if field in candidates:
        return f"{field} ({'map it to' if mapping.maps_fields else 'rename'} {candidates[field]!r}?)"
    entry = mapping.fields.get(field, FieldMapping())
    expected = [repr(column) for source in entry.sources for column in source.columns]
    return f"{field} (expected {' or '.join(expected)})" if expected else field


class MappedRecords:
    """Makes the records of a resource of those of a file: batches by field of batches by column.

    columns  the columns that it needs
    assumed  what was assumed about the file and about its names, each in a few words
    """

    def __init__(
        self,
        file: RecordFile,
        mapping: ResourceMapping,
        resource: Resource,
        *,
        by_name: bool = True,
        as_of: date | None = None,
    ) -> None:
        """Find the columns of a file; `by_name` also those of fields without an entry. Raises FileError.

        Closing dates are past `as_of` a day, or today.
        """
        names = () if file.is_exact else file.names
        try:
            entries = resolve_columns(names, mapping, resource, is_table=file.is_table, by_name=by_name)
        except FileError as error:
            raise FileError(error.why, file.line) from None
        named = {name: entry.sources[0].columns[0] for name, entry in entries.items() if name not in mapping.fields}
        self.assumed = [*file.assumed, *describe_renamed(named)]
        self._file, self._no_value, self._reports_unused = file, mapping.no_value, not mapping.maps_fields
        self._as_of = as_of or utc_today()
        self._fields = [
            (_HoursMapper if field.attribute == "hours" else _FieldMapper)(
                field, entries.get(field.name, FieldMapping()), mapping, self._as_of, file
            )
            for field in resource.fields
        ]
        self.columns: Sequence[str] = list(dict.fromkeys(name for each in self._fields for name in each.columns))
        self._status_columns = status_columns(file, self.columns) if IS_OPEN in resource.fields else []

    def batches(self) -> Iterator[Batch]:
        """Yield all records in order, with a cell for each field. Raises FileError."""
        return map(self._by_field, self._file.batches(self.columns, self._status_columns))

    def located_columns(self) -> Sequence[str]:
        """Return the unused columns whose first values seem to be locations. Raises FileError."""
        unused = [name for name in self._file.names if name not in self.columns][:MAX_UNUSED]
        names = dict.fromkeys([*unused, *(name.removesuffix(".0") for name in unused if not self._file.is_table)])
        first = next(self._file.batches(list(names)), None) if unused else None
        columns = first.columns if first is not None else {}
        return located_columns({name: list(filter(None, map(trim, map(written, columns[name])))) for name in columns})

    def _by_field(self, batch: Batch) -> Batch:
        """Return the records by field. Columns without an entry are not reported: a mapping with entries omits them."""
        columns = {name: batch.columns[name] for name in self.columns}
        if self._no_value:
            columns = {name: without(cells, self._no_value) for name, cells in columns.items()}
        fields = dict[str, Cells]()
        for each in self._fields:
            fields[each.name] = each.cells(columns, len(batch.numbers), fields)
        closing_dates = [columns[each.closing_date] for each in self._fields if each.closing_date]
        has_closing_dates = any(map(has_value, chain.from_iterable(closing_dates)))
        return msgspec.structs.replace(
            batch,
            columns=fields,
            unused=batch.unused if self._reports_unused else (),
            status_columns={name: batch.columns[name] for name in self._status_columns},
            as_of=self._as_of if has_closing_dates or any(each.is_dated for each in self._fields) else None,
        )


class _FieldMapper:
    """Makes the cells of a field; `is_dated` if they depend on the day, but for closing dates."""

    is_dated = False

    def __init__(
        self, field: Field, entry: FieldMapping, mapping: ResourceMapping, as_of: date, file: RecordFile
    ) -> None:
        formats = mapping.dates if entry.date is None else entry.date
        has_real_dates = file.has_dates and formats and RFC_3339 not in formats
        entry = msgspec.structs.replace(entry, date=(*formats, RFC_3339) if has_real_dates else formats)
        self.name, self._sources, self.columns = field.name, entry.sources, list(entry.columns)
        self.closing_date, self._close = entry.closing_date, closer(entry, as_of) if entry.closing_date else None
        self._read_list: Conversion | None = None
        if entry.kind and field.is_list:
            self._read_list = AttributeReader(entry, mapping.no_value).column
            entry = msgspec.structs.replace(entry, split=None, values={}, other=None)
        self._conversions = list(conversions(field, entry, mapping, texts=file.is_table))

    def cells(self, columns: _Columns, size: int, _: _Columns) -> Cells:
        """Return the cells of the field."""
        sources = [self._join(source, columns) for source in self._sources]
        cells = sources[0] if sources else list(repeat(None, size))
        for others in sources[1:]:
            cells = [cell if has_value(cell) else other for cell, other in zip(cells, others, strict=True)]
        for convert in self._conversions:
            cells = convert(cells)
        return self._close(cells, columns[self.closing_date]) if self._close and self.closing_date else cells

    def _join(self, source: JoinedColumns, columns: _Columns) -> Cells:
        if self._read_list is None:
            return _join(source, columns)
        return concatenated([self._read_list(columns[name]) for name in source.columns])


class _HoursMapper(_FieldMapper):
    def __init__(
        self, field: Field, entry: FieldMapping, mapping: ResourceMapping, as_of: date, file: RecordFile
    ) -> None:
        plain = msgspec.structs.replace(entry, kind="")
        super().__init__(msgspec.structs.replace(field, attribute=""), plain, mapping, as_of, file)
        self._parts = {name: _FieldMapper(field, each, mapping, as_of, file) for name, each in entry.parts.items()}
        is_null = entry.invalid is not None
        self._reader = HoursReader(holidays=entry.holidays, as_of=as_of, is_null_if_invalid=is_null)

    def cells(self, columns: _Columns, size: int, fields: _Columns) -> Cells:
        """Return the hours as JSON; their zone may be that of the country among the fields."""
        parts, none = {name: each.cells(columns, size, fields) for name, each in self._parts.items()}, [None] * size
        days = [parts.get(day, none) for day in DAYS]
        sources = list(zip(*days, strict=True)) if parts.keys() & set(DAYS) else super().cells(columns, size, fields)
        exceptions, zones = parts.get("exceptions", none), parts.get("timezone", none)
        found = self._reader.column(sources, exceptions, zones, fields[COUNTRY])
        self.is_dated = self._reader.is_dated
        return found


def _join(source: JoinedColumns, columns: _Columns) -> Cells:
    """Return the cells of columns joined, without those that have no value; one of a wrong type is the result."""
    cells = [columns[name] for name in source.columns]
    if len(cells) == 1:
        return cells[0]
    try:
        return [source.separator.join(filter(None, map(trim, parts))) for parts in zip(*cells, strict=True)]
    except TypeError:  # a cell is no text
        return [_join_cells(parts, source.separator) for parts in zip(*cells, strict=True)]


def _join_cells(parts: Sequence[Cell], separator: str) -> Cell:
    wrong = next((part for part in parts if not isinstance(part, str | None)), None)
    if wrong is not None:
        return WrongType(written(wrong)) if isinstance(wrong, bool) else wrong
    return separator.join(trim(part) for part in parts if isinstance(part, str) and has_value(part))

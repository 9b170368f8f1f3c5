"""Apply a mapping to the records of a file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice, repeat
from typing import Final, TypeAlias

import msgspec

from service.model.kinds import trim
from service.model.records import PREFIX, STORES, Field, Resource
from service.reading.batch import Batch, Cell, RecordFile, WrongType
from service.reading.columns.dates import RFC_3339, Cells
from service.reading.columns.field_names import (
    MAX_UNUSED,
    column_key,
    columns_by_name,
    describe_renamed,
    end_of_path,
    has_exact_names,
    suggest_field,
)
from service.reading.columns.flags import has_flags, is_status_name, mentions_status, utc_today
from service.reading.diagnostics import FileError
from service.reading.mapping.attribute_values import AttributeReader, concatenated
from service.reading.mapping.conversions import ClosingDates, Conversion, by_part, conversions, has_value, without
from service.reading.mapping.declaration import NO_MAPPING, FieldMapping, JoinedColumns, ResourceMapping
from service.reading.mapping.toml import inline_table, quoted
from service.texts import truncate

_MAX_NAMES: Final = 1_000  # that are compared; a header may have millions
_MAX_WATCHED: Final = 20


def status_columns(file: RecordFile, used: Sequence[str]) -> Sequence[str]:
    """Return the unused columns of a file that speak of open and closed: by their names, or in its first records."""
    known = set(used)
    unused = list(islice((name for name in file.names if name not in known), _MAX_NAMES))
    ends = {name: name if file.is_table else end_of_path(name) for name in unused}
    found = [name for name in unused if is_status_name(ends[name])]
    with suppress(FileError):  # reported when the records are read
        first = next(file.batches(unused[:MAX_UNUSED]), None) if unused and not file.is_costly else None
        cells = first.columns if first is not None else {}
        found += [name for name, each in cells.items() if name not in found and mentions_status(ends[name], each)]
    return found[:_MAX_WATCHED]


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
    if is_table or (mapping == NO_MAPPING and names):
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
        if near := get_close_matches(name, self._names[:_MAX_NAMES], n=1):
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


_Columns: TypeAlias = Mapping[str, Cells]


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
            _FieldMapper(field, _with_dates(entry, mapping, file), mapping, self._as_of, texts=file.is_table)
            for field in resource.fields
            for entry in [entries.get(field.name, FieldMapping())]
        ]
        self.columns: Sequence[str] = list(dict.fromkeys(name for each in self._fields for name in each.columns))
        self._status_columns = status_columns(file, self.columns) if has_flags(resource) else []

    def batches(self) -> Iterator[Batch]:
        """Yield all records in order, with a cell for each field. Raises FileError."""
        return map(self._by_field, self._file.batches(self.columns, self._status_columns))

    def _by_field(self, batch: Batch) -> Batch:
        """Return the records by field. Columns without an entry are not reported: a mapping with entries omits them."""
        columns = {name: batch.columns[name] for name in self.columns}
        if self._no_value:
            columns = {name: without(cells, self._no_value) for name, cells in columns.items()}
        fields = {each.name: each.cells(columns, len(batch.numbers)) for each in self._fields}
        closing_dates = [columns[each.closing_date.column] for each in self._fields if each.closing_date]
        return msgspec.structs.replace(
            batch,
            columns=fields,
            unused=batch.unused if self._reports_unused else (),
            status_columns={name: batch.columns[name] for name in self._status_columns},
            as_of=self._as_of if any(map(has_value, chain.from_iterable(closing_dates))) else None,
        )


class _FieldMapper:
    """Makes the cells of a field."""

    def __init__(
        self, field: Field, entry: FieldMapping, mapping: ResourceMapping, as_of: date, *, texts: bool
    ) -> None:
        self.name, self._sources = field.name, entry.sources
        self.closing_date = ClosingDates(entry.closing_date, entry, as_of) if entry.closing_date else None
        self._read_list: Conversion | None = None
        if entry.attribute is not None and field.is_list:
            values, other = entry.values, entry.other
            read = AttributeReader(entry.attribute, no_value=mapping.no_value, values=values, other=other).column
            part = None if entry.split is None else by_part(entry.split)
            self._read_list = read if part is None else lambda cells: read(part(cells))
            entry = msgspec.structs.replace(entry, split=None, values={}, other=None)
        self._conversions = conversions(field, entry, mapping, texts=texts)

    @property
    def columns(self) -> Iterator[str]:
        """The columns that it needs."""
        yield from (column for source in self._sources for column in source.columns)
        if self.closing_date:
            yield self.closing_date.column

    def cells(self, columns: _Columns, size: int) -> Cells:
        """Return the cells of the field."""
        sources = [self._join(source, columns) for source in self._sources]
        cells = sources[0] if sources else list(repeat(None, size))
        for others in sources[1:]:
            cells = [cell if has_value(cell) else other for cell, other in zip(cells, others, strict=True)]
        for convert in self._conversions:
            cells = convert(cells)
        return self.closing_date.close(cells, columns[self.closing_date.column]) if self.closing_date else cells

    def _join(self, source: JoinedColumns, columns: _Columns) -> Cells:
        if self._read_list is None:
            return _join(source, columns)
        return concatenated([self._read_list(columns[name]) for name in source.columns])


def _with_dates(entry: FieldMapping, mapping: ResourceMapping, file: RecordFile) -> FieldMapping:
    """Return an entry with the formats of its dates, among them that of real dates if the file may have these."""
    formats = mapping.dates if entry.dates is None else entry.dates
    also = (RFC_3339,) if file.has_dates and formats and RFC_3339 not in formats else ()
    return msgspec.structs.replace(entry, dates=formats + also)


def _join(source: JoinedColumns, columns: _Columns) -> Cells:
    """Return the cells of columns joined, without those that have no value."""
    cells = [columns[name] for name in source.columns]
    if len(cells) == 1:
        return cells[0]
    try:
        return [source.separator.join(filter(None, map(trim, parts))) for parts in zip(*cells, strict=True)]
    except TypeError:  # a cell is no text
        return [_join_cells(parts, source.separator) for parts in zip(*cells, strict=True)]


def _join_cells(parts: Sequence[Cell], separator: str) -> Cell:
    """Return cells of any type joined; one of a wrong type is the result."""
    wrong = next((part for part in parts if not isinstance(part, str | None)), None)
    if wrong is not None:
        return WrongType(str(wrong).lower()) if isinstance(wrong, bool) else wrong
    return separator.join(trim(part) for part in parts if isinstance(part, str) and has_value(part))

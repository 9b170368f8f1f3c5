"""Apply a mapping to the records of a file."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, repeat
from typing import TypeAlias

import msgspec

from service.model.kinds import trim
from service.model.records import Field, Resource
from service.reading.batches.batch import Batch, Cell, WrongType
from service.reading.batches.diagnostics import FileError
from service.reading.batches.record_file import RecordFile
from service.reading.fields.by_name import describe_renamed
from service.reading.mapping.attribute_values import AttributeReader, concatenated
from service.reading.mapping.closing_dates import ClosingDates
from service.reading.mapping.column_names import resolve_columns
from service.reading.mapping.conversions import Conversion, by_part, conversions, has_value, without
from service.reading.mapping.declaration import FieldMapping, JoinedColumns, ResourceMapping
from service.reading.mapping.watched_columns import watched_columns
from service.reading.values.closed_cells import has_flags
from service.reading.values.closing_day import utc_today
from service.reading.values.converted_cells import Cells
from service.reading.values.date_formats import RFC_3339

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
        try:
            entries = resolve_columns(file.names, mapping, resource, is_table=file.is_table, by_name=by_name)
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
        self._watched = watched_columns(file, self.columns) if has_flags(resource) else []

    def batches(self) -> Iterator[Batch]:
        """Yield all records in order, with a cell for each field. Raises FileError."""
        return map(self._by_field, self._file.batches(self.columns, self._watched))

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
            watched={name: batch.columns[name] for name in self._watched},
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

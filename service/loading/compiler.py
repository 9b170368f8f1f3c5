"""Compile batches of records into the rows and keys of a table, and collect errors and warnings."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from datetime import date
from itertools import compress
from math import inf
from typing import Any, Final, TypeVar, cast

import msgspec

from service.engine.column import KEY_END, split_keys
from service.engine.table import ROW_END, Table
from service.engine.table_builder import TableBuilder
from service.loading.batch_diagnostics import BatchDiagnostics, DiagnosticCounts
from service.loading.checks import PARENT, CheckedColumn, check_column
from service.loading.closed_columns import ClosedColumns
from service.loading.parent_companies import ParentReference, parent_warnings
from service.loading.searched_texts import company_texts, searched_texts
from service.loading.store_warnings import store_warnings
from service.model.kinds import FLAG
from service.model.records import COMPANIES, CREATED_AT, Resource
from service.reading.batches.batch import Batch, expand
from service.reading.batches.diagnostics import Diagnostic, Issue
from service.reading.fields.field_names import UnusedNames
from service.reading.values.closing_day import utc_today

_T = TypeVar("_T")
_REPEATED: Final = Issue("repeated", "identical to an earlier record; served once")
_DUPLICATE: Final = Issue("duplicate", "an earlier record has this identifier but different content")
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class Compiler:
    """Checks the records of one file and collects the valid ones.

    errors          the listed ones, in the order of the file, then of the fields
    error_counts    the number of all errors
    warnings        the listed ones, in the same order
    warning_counts  the number of all warnings
    records         the number of records read, `skipped` and `repeated` ones included
    as_of           the day that closing dates were compared with; None if there are none
    """

    def __init__(
        self, resource: Resource, *, file: str, companies: AbstractSet[str] | None, as_of: date | None = None
    ) -> None:
        """Start a file. `companies` are the identifiers of served companies; None skips checks against them.

        Closing dates in unused columns are past before `as_of`.
        """
        self.resource, self._file, self._companies = resource, file, companies
        self._references = {COMPANIES.identifier, PARENT} - {resource.identifier}
        filters = {field.name: field.filters for field in resource.fields}
        searched = [field.name for field in resource.searched]
        self._builder = TableBuilder(
            filters,
            order_by=CREATED_AT,
            key=resource.identifier,
            searched=searched,
            coordinates=resource.coordinates,
        )
        # It encodes as the record does, but is built from positional arguments: three times as fast.
        self._row = msgspec.defstruct("Row", [(name, Any) for name in resource.record.__struct_fields__], gc=False)
        self._rows: dict[str, bytes] = {}
        self._parents: list[ParentReference] = []
        self._unused_names, self._closed_columns = UnusedNames(resource), ClosedColumns(as_of or utc_today())
        self._flag = next((field.name for field in resource.fields if field.kind is FLAG), "")
        self.as_of: date | None = None
        self.error_counts, self.warning_counts = DiagnosticCounts(file, "error"), DiagnosticCounts(file, "warning")
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.records = self.skipped = self.repeated = 0

    @property
    def identifiers(self) -> AbstractSet[str]:
        """The identifiers of the valid records."""
        return self._rows.keys()

    def add(self, batch: Batch) -> None:
        """Check the next records, and collect the valid ones and the diagnostics."""
        columns = {
            field.name: check_column(
                field, batch.columns[field.name], self._companies if field.name in self._references else None
            )
            for field in self.resource.fields
        }
        diagnostics = BatchDiagnostics(self._file, batch, list(columns.values()), self.warning_counts)
        rows = expand(self._encode(columns, diagnostics.valid), diagnostics.valid, None)
        kept = self._deduplicate(columns[self.resource.identifier].values, rows, diagnostics)
        keys = {name: _selected_keys(column.keys, kept) for name, column in columns.items()}
        texts = {name: _selected_keys(text, kept) for name, text in searched_texts(columns.values())}
        self._builder.add([row for row in _selected(rows, kept) if row is not None], keys, texts)
        if self.resource.identifier == COMPANIES.identifier:
            self._parents += self._parent_references(columns, kept, diagnostics)
        if batch.watched:
            is_open = [is_kept and flag is True for is_kept, flag in zip(kept, columns[self._flag].values, strict=True)]
            self._closed_columns.add(batch.watched, is_open, diagnostics)
        self.as_of = batch.as_of or self.as_of
        self._unused_names.add(batch)
        errors = diagnostics.errors
        self.errors += [error for error in errors if self.error_counts.count(error.code, error.field)]
        self.warnings += diagnostics.warnings
        self.records += len(batch.numbers) + len(batch.unreadable)
        self.skipped += len({error.record for error in errors})

    def warn(self, warning: Diagnostic) -> None:
        """Add a warning that does not belong to a batch."""
        if self.warning_counts.count(warning.code, warning.field):
            self.warnings.append(warning)

    def close(self) -> None:
        """Add the warnings that depend on the whole file, and what is not listed."""
        self.errors += self.error_counts.unlisted()
        unused = (*self._unused_names.warnings(self._file), *self._closed_columns.warnings())
        for warning in (*parent_warnings(self._parents, self.identifiers), *unused):
            self.warn(warning)
        self.warnings.sort(key=_by_line)
        self.warnings += self.warning_counts.unlisted()

    def build(self, companies: Table | None = None) -> Table:
        """Return the table of the valid records, and add the warnings about it; nothing can be added afterwards.

        Records are searched by the texts of their companies, too, if there is a table of them.
        """
        self._rows = {}
        table = self._builder.build(None if companies is None else {COMPANIES.identifier: company_texts(companies)})
        if table.locations is not None:
            for warning in store_warnings(table, table.locations, self._file):
                self.warn(warning)
        return table

    def _encode(self, columns: Mapping[str, CheckedColumn], valid: Sequence[bool]) -> list[bytes]:
        names = self.resource.record.__struct_fields__
        rows = list(map(self._row, *[_selected(columns[name].values, valid) for name in names]))
        return _encode_lines(rows).replace(b"\n", ROW_END + b"\n").split(b"\n")[:-1]

    def _deduplicate(
        self, identifiers: Sequence[Any], rows: Sequence[bytes | None], diagnostics: BatchDiagnostics
    ) -> list[bool]:
        """Return for each record whether it is kept: valid, and the first with its identifier."""
        new = dict(zip(identifiers, rows, strict=True))
        if len(new) == len(rows) and self._rows.keys().isdisjoint(new) and None not in rows:
            self._rows.update(cast("dict[str, bytes]", new))
            return [True] * len(rows)
        kept = []
        for index, (identifier, row) in enumerate(zip(identifiers, rows, strict=True)):
            earlier = self._rows.get(identifier) if row is None else self._rows.setdefault(identifier, row)
            kept.append(row is not None and earlier is row)
            if earlier is not None and earlier is not row:
                if earlier == row:
                    self.repeated += 1
                    diagnostics.warn(index, self.resource.identifier, _REPEATED, identifier)
                else:
                    diagnostics.error(index, self.resource.identifier, _DUPLICATE, identifier)
        return kept

    def _parent_references(
        self, columns: Mapping[str, CheckedColumn], kept: Sequence[bool], diagnostics: BatchDiagnostics
    ) -> Iterable[ParentReference]:
        companies, parents = columns[self.resource.identifier], columns[PARENT]
        for index, (company, parent) in enumerate(zip(companies.values, parents.values, strict=True)):
            if isinstance(parent, str):
                yield ParentReference(
                    cast("str", company) if kept[index] else None, parent, diagnostics.location(index, PARENT)
                )


def _by_line(diagnostic: Diagnostic) -> tuple[float, float]:
    return diagnostic.line or 0, diagnostic.record or inf


def _selected(items: Sequence[_T], mask: Sequence[bool]) -> Sequence[_T]:
    return items if all(mask) else list(compress(items, mask))


def _selected_keys(keys: bytes, mask: Sequence[bool]) -> bytes:
    return keys if all(mask) else KEY_END.join([*compress(split_keys(keys), mask), b""])

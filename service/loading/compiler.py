"""Compile batches of records into the rows and keys of a table, and collect errors and warnings."""

from collections.abc import Iterable, Sequence, Set as AbstractSet
from itertools import compress
from math import inf
from typing import Any, Final, cast

from service.engine.column import KEY_END, split_keys
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.loading.batch_diagnostics import BatchDiagnostics, DiagnosticCounts
from service.loading.checked_batch import BatchChecker, CheckedBatch, selected
from service.loading.checks import PARENT
from service.loading.parent_companies import ParentReference, parent_warnings
from service.loading.searched_texts import company_texts
from service.model.records import COMPANIES, CREATED_AT, Resource
from service.reading.batch import Batch, Cell, expand
from service.reading.diagnostics import Diagnostic, Issue
from service.reading.field_names import UnusedNames

_REPEATED: Final = Issue("repeated", "identical to an earlier record; served once")
_DUPLICATE: Final = Issue("duplicate", "an earlier record has this identifier but different content")


class Compiler:
    """Checks the records of one file and collects the valid ones.

    errors          the listed ones, in the order of the file, then of the fields
    error_counts    the number of all errors
    warnings        the listed ones, in the same order
    warning_counts  the number of all warnings
    records         the number of records read, `skipped` and `repeated` ones included
    """

    def __init__(self, resource: Resource, *, file: str, companies: AbstractSet[str] | None) -> None:
        """Start a file. `companies` are the identifiers of served companies; None skips checks against them."""
        self.resource, self._file = resource, file
        self.checker = BatchChecker(resource, companies)
        filters = {field.name: field.filters for field in resource.fields}
        searched = [field.name for field in resource.searched]
        self._builder = TableBuilder(
            filters,
            order_by=CREATED_AT,
            key=resource.identifier,
            searched=searched,
            coordinates=resource.coordinates,
        )
        self._rows: dict[str, bytes] = {}
        self._parents: list[ParentReference] = []
        self._unused_names = UnusedNames(resource)
        self.error_counts, self.warning_counts = DiagnosticCounts(file, "error"), DiagnosticCounts(file, "warning")
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.records = self.skipped = self.repeated = 0

    @property
    def identifiers(self) -> AbstractSet[str]:
        """The identifiers of the valid records."""
        return self._rows.keys()

    def add(self, batch: Batch, checked: CheckedBatch | None = None) -> None:
        """Check the next records, unless they are `checked`, and collect the valid ones and the diagnostics."""
        checked = checked or self.checker.check(batch.columns)
        diagnostics = BatchDiagnostics(self._file, batch, checked, self.warning_counts)
        rows = expand(checked.lines.split(b"\n")[:-1], checked.valid, None)
        identifiers = _values(batch, checked, self.resource.identifier)
        kept = self._deduplicate(identifiers, rows, diagnostics)
        keys, texts = (
            {name: _selected_keys(each, kept) for name, each in columns.items()}
            for columns in (checked.keys, checked.texts)
        )
        self._builder.add([row for row in selected(rows, kept) if row is not None], keys, texts)
        if self.resource.identifier == COMPANIES.identifier:
            parents = _values(batch, checked, PARENT)
            self._parents += _parent_references(identifiers, parents, kept, diagnostics)
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
        for warning in (*parent_warnings(self._parents, self.identifiers), *self._unused_names.warnings(self._file)):
            self.warn(warning)
        self.warnings.sort(key=_by_line)
        self.warnings += self.warning_counts.unlisted()

    def build(self, companies: Table | None = None) -> Table:
        """Return the table of the valid records; the compiler cannot be used afterwards.

        Records are searched by the texts of their companies, too, if there is a table of them.
        """
        self._rows = {}
        return self._builder.build(None if companies is None else {COMPANIES.identifier: company_texts(companies)})

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


def _values(batch: Batch, checked: CheckedBatch, field: str) -> Sequence[Cell]:
    """Return the cells of a field of identifiers, which are their values; None for those with errors."""
    cells, errors = batch.columns[field], checked.errors.get(field)
    return [None if cell in errors else cell for cell in cells] if errors else cells


def _parent_references(
    companies: Sequence[Cell], parents: Sequence[Cell], kept: Sequence[bool], diagnostics: BatchDiagnostics
) -> Iterable[ParentReference]:
    for index, (company, parent) in enumerate(zip(companies, parents, strict=True)):
        if isinstance(parent, str) and parent.strip():
            yield ParentReference(
                cast("str", company) if kept[index] else None, parent, diagnostics.location(index, PARENT)
            )


def _by_line(diagnostic: Diagnostic) -> tuple[float, float]:
    return diagnostic.line or 0, diagnostic.record or inf


def _selected_keys(keys: bytes, mask: Sequence[bool]) -> bytes:
    return keys if all(mask) else KEY_END.join([*compress(split_keys(keys), mask), b""])

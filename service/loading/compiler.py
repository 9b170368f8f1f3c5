"""Compile batches of records into the rows and keys of a table, and collect errors and warnings."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from datetime import date
from itertools import compress
from math import inf
from typing import Final, cast

import msgspec

from service.engine.table import Table
from service.engine.table_builder import Duplicate, TableBuilder
from service.files.spool import Spools
from service.loading.batch_diagnostics import WHOLE_RECORD, BatchDiagnostics, DiagnosticCounts
from service.loading.checks import PARENT, CheckedColumn
from service.loading.closed_columns import ClosedColumns
from service.loading.parallel.checked_batch import CheckedBatch
from service.loading.parallel.shared_checks import SharedChecks
from service.loading.parent_companies import ParentReference, parent_warnings
from service.loading.record_places import RecordPlaces
from service.loading.searched_texts import company_texts
from service.loading.store_warnings import store_warnings
from service.model.attributes import NOTHING_DECLARED, Declaration
from service.model.kinds import FLAG
from service.model.records import COMPANIES, CREATED_AT, Resource
from service.reading.batches.batch import Batch
from service.reading.batches.diagnostics import Diagnostic, Issue
from service.reading.fields.field_names import UnusedNames
from service.reading.values.closing_day import utc_today

_REPEATED: Final = Issue("repeated", "identical to an earlier record; served once")
_DUPLICATE: Final = Issue("duplicate", "an earlier record has this identifier but different content")


class Compiler:
    """Checks the records of one resource and collects the valid ones.

    errors          the listed ones, in the order of the files, then of the fields
    error_counts    the number of all errors
    warnings        the listed ones, in the same order
    warning_counts  the number of all warnings
    records         the number of records read, `skipped` and `repeated` ones included
    identifiers     of the valid records, if they are companies
    as_of           the day that closing dates were compared with; None if there are none
    """

    def __init__(  # noqa: PLR0913 - what records depend on
        self,
        resource: Resource,
        *,
        file: str,
        companies: AbstractSet[str] | None,
        as_of: date | None = None,
        spools: Spools | None = None,
        declaration: Declaration = NOTHING_DECLARED,
    ) -> None:
        """Start the first file. `companies` are the identifiers of served companies; None skips checks against them.

        Closing dates in unused columns are past before `as_of`. The records wait in `spools`. The attributes of the
        resource are those of `declaration`.
        """
        self.resource, self._checks = resource, SharedChecks(resource, companies, declaration)
        self._files: dict[str, int] = {}  # with their order
        filters = {field.name: field.filters for field in resource.fields if field.is_column}
        searched = [field.name for field in resource.searched]
        self._builder = TableBuilder(
            filters,
            order_by=CREATED_AT,
            key=resource.identifier,
            searched=searched,
            coordinates=resource.coordinates,
            spools=spools,
            lists=[field.name for field in resource.fields if field.is_list],
        )
        self._order = {field.name: order for order, field in enumerate(resource.fields)}
        self._places = RecordPlaces()
        self._parents: dict[int, ParentReference] = {}  # by the index of the record
        self._unused_names, self._closed_columns = UnusedNames(resource), ClosedColumns(as_of or utc_today())
        self._flag = next((field.name for field in resource.fields if field.kind is FLAG and not field.attribute), "")
        self.as_of: date | None = None
        self.error_counts, self.warning_counts = DiagnosticCounts("error"), DiagnosticCounts("warning")
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.records = self.skipped = self.repeated = 0
        self.identifiers: set[str] = set()
        self.begin(file)

    def begin(self, file: str) -> None:
        """Start a file, after the end of the one before: the next batches are those of its records."""
        self._file = file
        self._files.setdefault(file, len(self._files))

    def add(self, batch: Batch) -> None:
        """Check the next records, and collect the valid ones and the diagnostics, now or with later ones."""
        for each in self._checks.add(batch):
            self._collect(*each)

    def end(self) -> None:
        """Collect all records of the file that were added."""
        for each in self._checks.rest():
            self._collect(*each)

    @property
    def size(self) -> int:
        """The number of bytes that wait in spools."""
        return self._builder.size

    def warn(self, warning: Diagnostic) -> None:
        """Add a warning that does not belong to a batch."""
        if self.warning_counts.count(warning.file, warning.code, warning.field):
            self.warnings.append(warning)

    def close(self) -> None:
        """Drop records with the identifier of an earlier one, and add what is found out about all files."""
        self.end()
        dropped = set[int]()
        for duplicate in self._builder.drop_duplicates():
            dropped.add(duplicate.index)
            self._report(duplicate)
        del self._places  # and with it the text of JSON
        self.errors.sort(key=self._by_record)
        self.errors += self.error_counts.unlisted()
        unused = (*self._unused_names.warnings(), *self._closed_columns.warnings(dropped))
        for warning in (*parent_warnings(list(self._parents.values()), self.identifiers), *unused):
            self.warn(warning)
        self.warnings.sort(key=self._by_line)
        self.warnings += self.warning_counts.unlisted()

    def build(
        self, companies: Table | None = None, progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Table:
        """Return the table of the valid records, and add the warnings about it; nothing can be added afterwards.

        Records are searched by the texts of their companies, too, if there is a table of them. `progress` is that of
        a table builder.
        """
        referenced = None if companies is None else {COMPANIES.identifier: company_texts(companies)}
        table = self._builder.build(referenced, progress)
        if table.locations is not None:
            about = self._file if len(self._files) == 1 else self.resource.name
            for warning in store_warnings(table, table.locations, about):
                self.warn(warning)
        return table

    def _collect(self, batch: Batch, checked: CheckedBatch) -> None:
        columns = {column.field.name: column for column in checked.columns}
        diagnostics = BatchDiagnostics(self._file, batch, checked.columns, self.warning_counts)
        keys = {name: column.keys for name, column in columns.items()}
        self._builder.add(checked.rows, keys, checked.texts)
        self._places.add(batch, self._file)
        if self.resource.identifier == COMPANIES.identifier:
            identifiers = cast("Sequence[str]", columns[COMPANIES.identifier].values)
            self.identifiers.update(compress(identifiers, diagnostics.valid))
            self._parents.update(self._parent_references(columns, diagnostics))
        if batch.watched:
            is_open = [
                is_valid and flag is True
                for is_valid, flag in zip(diagnostics.valid, columns[self._flag].values, strict=True)
            ]
            self._closed_columns.add(batch.watched, is_open, diagnostics, len(self._places) - len(is_open))
        self.as_of = batch.as_of or self.as_of
        self._unused_names.add(batch, self._file)
        errors = diagnostics.errors
        self.errors += [error for error in errors if self.error_counts.count(error.file, error.code, error.field)]
        self.warnings += diagnostics.warnings
        self.records += len(batch.numbers) + len(batch.unreadable)
        self.skipped += len({error.record for error in errors})

    def _report(self, duplicate: Duplicate) -> None:
        """Report a record with the identifier of an earlier one, which is not served."""
        location = self._places.location(duplicate.index, self.resource.identifier)
        if (parent := self._parents.get(duplicate.index)) is not None:
            self._parents[duplicate.index] = msgspec.structs.replace(parent, company=None)
        if duplicate.is_same:
            self.repeated += 1
            self.warn(location.diagnostic(_REPEATED, duplicate.identifier))
            return
        self.skipped += duplicate.is_valid
        if self.error_counts.count(location.file, _DUPLICATE.code, location.field):
            self.errors.append(location.diagnostic(_DUPLICATE, duplicate.identifier))

    def _by_line(self, diagnostic: Diagnostic) -> tuple[int, int, float, int]:
        file, record, field = self._by_record(diagnostic)
        return file, diagnostic.line or 0, record or inf, field

    def _by_record(self, diagnostic: Diagnostic) -> tuple[int, int, int]:
        field = self._order.get(diagnostic.field or "", WHOLE_RECORD)
        return self._files[diagnostic.file], diagnostic.record or 0, field

    def _parent_references(
        self, columns: Mapping[str, CheckedColumn], diagnostics: BatchDiagnostics
    ) -> Iterable[tuple[int, ParentReference]]:
        companies, parents = columns[self.resource.identifier], columns[PARENT]
        first = len(self._places) - len(diagnostics.valid)
        for index, (company, parent) in enumerate(zip(companies.values, parents.values, strict=True)):
            if isinstance(parent, str):
                served = cast("str", company) if diagnostics.valid[index] else None
                yield first + index, ParentReference(served, parent, diagnostics.location(index, PARENT))

"""Compile batches of records into the rows and keys of a table, and collect errors and warnings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date
from itertools import chain, compress
from math import inf
from typing import Any, Final, cast

import msgspec

from service.engine.columns.column import join_keys
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.loading.batch_diagnostics import (
    WHOLE_RECORD,
    ClosedColumns,
    CountedWarnings,
    DiagnosticCounts,
    RecordPlaces,
    issues,
    parent_warnings,
)
from service.loading.checks import PARENT, CheckedColumn, check_column
from service.loading.opening_hours import distinct_hours, open_times
from service.loading.store_warnings import store_warnings
from service.model.kinds import POSTAL
from service.model.records import COMPANIES, CREATED_AT, Company, Resource
from service.model.words import ACCENT
from service.reading.batch import Batch, expand
from service.reading.columns.field_names import UnusedNames
from service.reading.columns.flags import IS_OPEN, utc_today
from service.reading.diagnostics import Diagnostic, Issue, Location
from service.spool import Spools


def searched_texts(columns: Iterable[CheckedColumn]) -> Iterator[tuple[str, bytes]]:
    """Yield the searched fields whose words are not those of their normalized keys, and their texts as `join_keys`."""
    for column in columns:
        field, is_code = column.field, column.field.kind is POSTAL
        if field.searched and (is_code or field.is_list or not field.is_column or ACCENT in column.keys):
            texts: Sequence[Any] = column.values
            if field.is_list:
                texts = [text and " ".join(text) for text in texts]
            if is_code:  # nearly all are without spaces
                texts = [
                    with_and_without_spaces(text) if text and (" " in text or not text.isprintable()) else text
                    for text in texts
                ]
            yield field.name, join_keys(texts)


def company_texts(companies: Table) -> dict[bytes, bytes]:
    """Return the texts by which the stores of each company are searched, by its identifier."""
    others = [field.name for field in COMPANIES.searched if field.name != COMPANIES.identifier]
    decode = msgspec.json.Decoder(Company).decode
    records = (decode(companies.row(row)) for row in range(len(companies)))
    return {
        record.company_id.encode(): " ".join(getattr(record, name) or "" for name in others).encode()
        for record in records
    }


def with_and_without_spaces(code: str) -> str:
    """Return a postal code for words: its key has others where a character stands for a space and a mark."""
    words = code.split()
    return words[0] if len(words) == 1 else f"{code} {''.join(words)}"


_REPEATED: Final = Issue("repeated", "identical to an earlier record; served once")
_DUPLICATE: Final = Issue("duplicate", "an earlier record has this identifier but different content")
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class Compiler:
    """Checks the records of one resource and collects the valid ones.

    errors          the listed ones, in the order of the files, then of the fields
    error_counts    the number of all errors
    warnings        the listed ones, in the same order
    warning_counts  the number of all warnings
    records         the number of records read, `skipped` and `repeated` ones included
    identifiers     of the valid records, if they are companies
    as_of           the day that closing dates were compared with; None if there are none
    searched        as of a table builder
    """

    def __init__(
        self,
        resource: Resource,
        *,
        file: str,
        companies: AbstractSet[str] | None,
        as_of: date | None = None,
        spools: Spools | None = None,
    ) -> None:
        """Start the first file. `companies` are the identifiers of served companies; None skips checks against them.

        Closing dates in unused columns are past before `as_of`. The records wait in `spools`.
        """
        self.resource, self._companies = resource, companies
        self._files: dict[str, int] = {}  # with their order
        self._references = {COMPANIES.identifier, PARENT} - {resource.identifier}
        filters = {field.name: field.has_values for field in resource.fields if field.is_column}
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
        self.searched = self._builder.searched
        # Encodes like the record; positional construction is three times as fast.
        self._row = msgspec.defstruct("Row", [(name, Any) for name in resource.record.__struct_fields__], gc=False)
        self._attributes: Callable[..., Any] = msgspec.defstruct(
            "Attributes", [(field.member, Any) for field in resource.attributes], gc=False
        )
        self._order = {field.name: order for order, field in enumerate(resource.fields)}
        self._places = RecordPlaces()
        self._parents: dict[int, tuple[str | None, str]] = {}
        self._counted = CountedWarnings()
        self._unused_names, self._closed_columns = UnusedNames(resource), ClosedColumns(as_of or utc_today())
        self.as_of: date | None = None
        self.error_counts, self.warning_counts = DiagnosticCounts("error"), DiagnosticCounts("warning")
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.records = self.skipped = self.repeated = 0
        self.identifiers: set[str] = set()
        self.begin(file)

    def begin(self, file: str) -> None:
        """Start a file: the next batches are those of its records."""
        self._file = file
        self._files.setdefault(file, len(self._files))

    def add(self, batch: Batch) -> None:
        """Check the next records, and collect the valid ones and the diagnostics."""
        columns = {
            field.name: check_column(
                field, batch.columns[field.name], self._companies if field.name in self._references else None
            )
            for field in self.resource.fields
        }
        first = len(self._places)
        self._places.add(batch, self._file)
        valid = self._diagnose(batch, columns.values(), first)
        keys = {name: column.keys for name, column in columns.items()}
        self._builder.add(self._encode(columns, valid), keys, dict(searched_texts(columns.values())))
        if self.resource.identifier == COMPANIES.identifier:
            companies, parents = cast("Sequence[str]", columns[COMPANIES.identifier].values), columns[PARENT].values
            served = [company if is_valid else None for company, is_valid in zip(companies, valid, strict=True)]
            self.identifiers.update(filter(None, served))
            self._parents |= {
                first + index: (company, parent)
                for index, (company, parent) in enumerate(zip(served, parents, strict=True))
                if isinstance(parent, str)
            }
        if batch.status_columns:
            flags = columns[IS_OPEN.name].values
            is_open = [is_valid and flag is True for is_valid, flag in zip(valid, flags, strict=True)]
            self._closed_columns.add(batch.status_columns, is_open, first)
        self.as_of = batch.as_of or self.as_of
        self._unused_names.add(batch, self._file)
        self.records += len(batch.numbers) + len(batch.unreadable)

    def _diagnose(self, batch: Batch, columns: Iterable[CheckedColumn], first: int) -> list[bool]:
        """Collect the issues of a batch that begins with a record; return of each whether its fields have no errors."""
        valid = [True] * len(batch.numbers)
        errors = [Location(self._file, it.line, it.record).diagnostic(it.issue, it.text) for it in batch.unreadable]
        for column in columns:
            name = column.field.name
            for index, issue, text in issues(column, column.warnings):
                if issue.code in CountedWarnings.codes:
                    self._counted.add(issue, self._places.location(first + index, name), text)
                elif self.warning_counts.count(self._file, issue.code, name):
                    self.warnings.append(self._places.location(first + index, name).diagnostic(issue, text))
            for index, issue, text in issues(column, column.errors):
                errors.append(self._places.location(first + index, name).diagnostic(issue, text))
                valid[index] = False
        errors.sort(key=self._by_record)
        self.errors += [error for error in errors if self.error_counts.count(error.file, error.code, error.field)]
        self.skipped += len({error.record for error in errors})
        return valid

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
        dropped = set[int]()
        for duplicate in self._builder.drop_duplicates():
            dropped.add(duplicate.index)
            location = self._places.location(duplicate.index, self.resource.identifier)
            if (parent := self._parents.get(duplicate.index)) is not None:
                self._parents[duplicate.index] = None, parent[1]
            if duplicate.is_same:
                self.repeated += 1
                self.warn(location.diagnostic(_REPEATED, duplicate.identifier))
                continue
            self.skipped += duplicate.is_valid
            if self.error_counts.count(location.file, _DUPLICATE.code, location.field):
                self.errors.append(location.diagnostic(_DUPLICATE, duplicate.identifier))
        self.errors.sort(key=self._by_record)
        self.errors += self.error_counts.unlisted()
        for warning in chain(
            parent_warnings(self._parents, self.identifiers, self._places),
            self._unused_names.warnings(),
            self._closed_columns.warnings(dropped, self._places),
            self._counted.warnings(),
        ):
            self.warn(warning)
        del self._places  # and with it the text of JSON
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
        if (field := self.resource.hours) is not None:
            table.hours = open_times(field.name, distinct_hours(table, field.name))
        if table.locations is not None:
            about = self._file if len(self._files) == 1 else self.resource.name
            for warning in store_warnings(table, table.locations, about):
                self.warn(warning)
        return table

    def _by_line(self, diagnostic: Diagnostic) -> tuple[int, int, float, int]:
        file, record, field = self._by_record(diagnostic)
        return file, diagnostic.line or 0, record or inf, field

    def _by_record(self, diagnostic: Diagnostic) -> tuple[int, int, int]:
        field = self._order.get(diagnostic.field or "", WHOLE_RECORD)
        return self._files[diagnostic.file], diagnostic.record or 0, field

    def _encode(self, columns: Mapping[str, CheckedColumn], valid: Sequence[bool]) -> bytes:
        """Return a line for each record, empty if it is invalid."""
        members = [columns[field.name].values for field in self.resource.fields if field.served and not field.attribute]
        if attributes := self.resource.attributes:
            values: list[Any] = list(map(self._attributes, *(columns[field.name].values for field in attributes)))
            members.append(values)
        if all(valid):
            return _encode_lines(list(map(self._row, *members)))
        rows = map(self._row, *(compress(values, valid) for values in members))
        lines = _encode_lines(list(rows)).split(b"\n")[:-1]
        return b"\n".join([*expand(lines, valid, b""), b""])

"""The compiler: batches of records become the rows and keys of a table, and what is wrong with them is told."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from itertools import compress
from math import inf
from typing import Any, Final, TypeVar, cast

import msgspec

from service.engine.column import KEY_END, split_keys
from service.engine.table import Table, TableBuilder
from service.loading.batch import Batch, spread
from service.loading.checks import PARENT, CheckedColumn, check_column
from service.loading.faults import Fault, Flaw
from service.loading.field_names import Names
from service.loading.findings import Findings
from service.loading.parent_companies import ParentReference, parent_warnings
from service.loading.warning_counts import WarningCounts
from service.model.records import COMPANIES, CREATED_AT, Resource

_T = TypeVar("_T")
_REPEATED: Final = Flaw("repeated", "an earlier record is the same; it is kept once")
_DUPLICATE: Final = Flaw("duplicate", "an earlier record has this identifier and other content")
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class Compiler:
    """Checks the records of one file and gathers those that are sound.

    faults    what costs a record, in the order of the file, then of the fields
    warnings  what costs nothing, in the same order, as far as it is listed
    tally     how many warnings there are
    records   how many are read; those skipped and those repeated are among them
    """

    def __init__(self, resource: Resource, *, file: str, companies: AbstractSet[str] | None) -> None:
        """Start on a file. `companies` are the identifiers served, None where they are unknown or still being read."""
        self.resource, self._file, self._companies = resource, file, companies
        self._references = {COMPANIES.identifier, PARENT} - {resource.identifier}
        filters = {field.name: field.filters for field in resource.fields}
        self._builder = TableBuilder(filters, order_by=CREATED_AT, key=resource.identifier)
        # Encoded as the record is, but made from positions, not from names: three times as fast.
        self._row = msgspec.defstruct("Row", [(name, Any) for name in resource.record.__struct_fields__], gc=False)
        self._rows: dict[str, bytes] = {}
        self._claims: list[ParentReference] = []
        self._names = Names(resource)
        self.tally = WarningCounts(file)
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []
        self.records = self.skipped = self.repeated = 0

    @property
    def identifiers(self) -> AbstractSet[str]:
        """The identifiers of the records that are kept."""
        return self._rows.keys()

    def add(self, batch: Batch) -> None:
        """Check the next records, keep the sound ones and tell what is wrong with the others."""
        columns = self._check(batch)
        findings = Findings(self._file, batch, list(columns.values()), self.tally)
        rows = spread(self._encode(columns, findings.sound), findings.sound, None)
        kept = self._keep(columns[self.resource.identifier].values, rows, findings)
        keys = {name: _chosen_keys(column.keys, kept) for name, column in columns.items()}
        self._builder.add([row for row in _chosen(rows, kept) if row is not None], keys)
        if self.resource.identifier == COMPANIES.identifier:
            self._claims += self._claimed(columns, kept, findings)
        self._names.add(batch)
        self._tell(findings, read=len(batch.numbers) + len(batch.broken))

    def warn(self, warning: Fault) -> None:
        """Add a warning that is not found in a batch."""
        if self.tally.admits(warning.code, warning.field):
            self.warnings.append(warning)

    def close(self) -> None:
        """Add what shows only when all records are known."""
        for warning in (*parent_warnings(self._claims, self.identifiers), *self._names.warnings(self._file)):
            self.warn(warning)
        self.warnings.sort(key=_by_line)
        self.warnings += self.tally.unlisted()

    def build(self) -> Table:
        """Return the table of the records that are kept; the compiler is used up."""
        self._rows = {}
        return self._builder.build()

    def _check(self, batch: Batch) -> dict[str, CheckedColumn]:
        return {
            field.name: check_column(
                field, batch.columns[field.name], self._companies if field.name in self._references else None
            )
            for field in self.resource.fields
        }

    def _encode(self, columns: Mapping[str, CheckedColumn], sound: Sequence[bool]) -> list[bytes]:
        names = self.resource.record.__struct_fields__
        rows = list(map(self._row, *[_chosen(columns[name].values, sound) for name in names]))
        return _encode_lines(rows).replace(b"\n", b",\n").split(b"\n")[:-1]

    def _keep(self, identifiers: Sequence[Any], rows: Sequence[bytes | None], findings: Findings) -> list[bool]:
        """Return for each record whether it is kept: sound, and the first of its identifier."""
        fresh = dict(zip(identifiers, rows, strict=True))
        if len(fresh) == len(rows) and self._rows.keys().isdisjoint(fresh) and None not in rows:
            self._rows.update(cast("dict[str, bytes]", fresh))
            return [True] * len(rows)
        kept = []
        for place, (identifier, row) in enumerate(zip(identifiers, rows, strict=True)):
            earlier = self._rows.get(identifier) if row is None else self._rows.setdefault(identifier, row)
            kept.append(row is not None and earlier is row)
            if earlier is not None and earlier is not row:
                self._compare(place, identifier, alike=earlier == row, findings=findings)
        return kept

    def _compare(self, place: int, identifier: str, *, alike: bool, findings: Findings) -> None:
        field = self.resource.identifier
        if alike:
            self.repeated += 1
            findings.warn(place, field, _REPEATED, identifier)
        else:
            findings.fault(place, field, _DUPLICATE, identifier)

    def _claimed(
        self, columns: Mapping[str, CheckedColumn], kept: Sequence[bool], findings: Findings
    ) -> Iterable[ParentReference]:
        companies, parents = columns[self.resource.identifier], columns[PARENT]
        for place, (company, parent) in enumerate(zip(companies.values, parents.values, strict=True)):
            if isinstance(parent, str):
                yield ParentReference(
                    cast("str", company) if kept[place] else None, parent, findings.place(place, PARENT)
                )

    def _tell(self, findings: Findings, *, read: int) -> None:
        faults = findings.faults
        self.faults += faults
        self.warnings += findings.warnings
        self.records += read
        self.skipped += len({fault.record for fault in faults})


def _by_line(fault: Fault) -> tuple[float, float]:
    return fault.line or 0, fault.record or inf


def _chosen(items: Sequence[_T], chosen: Sequence[bool]) -> Sequence[_T]:
    return items if all(chosen) else list(compress(items, chosen))


def _chosen_keys(keys: bytes, chosen: Sequence[bool]) -> bytes:
    return keys if all(chosen) else KEY_END.join([*compress(split_keys(keys), chosen), b""])

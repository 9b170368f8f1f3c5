"""Diagnostics of records, with their locations: by batch, and of columns that mark stores as closed."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date
from functools import cached_property
from typing import Final, TypeAlias

import msgspec

from service.loading.checks import UNKNOWN_PARENT, CheckedColumn
from service.reading.batch import Batch, Cell, written
from service.reading.columns.flags import closed_tester
from service.reading.diagnostics import Diagnostic, DiagnosticCode, Issue, Location
from service.texts import counted, truncate

MAX_LISTED: Final = 10_000  # errors or warnings of one code in one field of a resource; a few megabytes
WHOLE_RECORD: Final = -1  # diagnostics of a whole record come before those of its fields


class DiagnosticCounts:
    """Counts the errors or the warnings (`kind`) of a resource by code and field, and limits how many are listed.

    Files with millions of them must not exhaust memory or flood a report.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._counts: Counter[tuple[DiagnosticCode, str | None]] = Counter()
        self._unlisted: Counter[tuple[str, DiagnosticCode, str | None]] = Counter()

    def count(self, file: str, code: DiagnosticCode, field: str | None) -> bool:
        """Count an error or a warning of a file; return whether to list it."""
        self._counts[code, field] += 1
        is_listed = self._counts[code, field] <= MAX_LISTED
        if not is_listed:
            self._unlisted[file, code, field] += 1
        return is_listed

    @property
    def by_code(self) -> Counter[DiagnosticCode]:
        """The number of each code."""
        totals: Counter[DiagnosticCode] = Counter()
        for (code, _), count in self._counts.items():
            totals[code] += count
        return totals

    def unlisted(self) -> list[Diagnostic]:
        """Return a diagnostic for each file, code and field of which some are not listed."""
        return [
            Diagnostic(code, file, None, None, field, None, f"{count:,} more {self._kind}s are not listed")
            for (file, code, field), count in self._unlisted.items()
        ]


class BatchDiagnostics:
    """The errors and warnings of a batch. `index` is the index of a record in the batch.

    valid  for each record, whether its fields have no errors
    """

    def __init__(self, file: str, batch: Batch, columns: Sequence[CheckedColumn], counts: DiagnosticCounts) -> None:
        """Collect the issues of a batch and of its checked columns; `counts` counts the warnings."""
        self._file, self._batch, self._counts = file, batch, counts
        self._order = {column.field.name: order for order, column in enumerate(columns)}
        self._errors = [Location(file, it.line, it.record).diagnostic(it.issue, it.text) for it in batch.unreadable]
        self._warnings: list[Diagnostic] = []
        self.valid = [True] * len(batch.numbers)
        for column in columns:
            for index, issue, text in _issues(column, column.warnings):
                self.warn(index, column.field.name, issue, text)
            for index, issue, text in _issues(column, column.errors):
                self.error(index, column.field.name, issue, text)
                self.valid[index] = False

    def error(self, index: int, field: str, issue: Issue, value: str | None) -> None:
        """Add an error; the record is not served."""
        self._errors.append(self.location(index, field).diagnostic(issue, value))

    def warn(self, index: int, field: str, issue: Issue, value: str | None) -> None:
        """Count a warning, and add it while the list of its code and field is not full; the record is served."""
        if self._counts.count(self._file, issue.code, field):
            self._warnings.append(self.location(index, field).diagnostic(issue, value))

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors, ordered by record, then by field."""
        return sorted(self._errors, key=self._sort_key)

    @property
    def warnings(self) -> list[Diagnostic]:
        """The listed warnings, ordered by record, then by field."""
        return sorted(self._warnings, key=self._sort_key)

    def location(self, index: int, field: str) -> Location:
        """Return the location of a record's field in the file."""
        return Location(self._file, self._lines[index], self._batch.numbers[index], field)

    @cached_property
    def _lines(self) -> Sequence[int | None]:
        return self._batch.lines()

    def _sort_key(self, diagnostic: Diagnostic) -> tuple[int, int]:
        return diagnostic.record or 0, self._order.get(diagnostic.field or "", WHOLE_RECORD)


def _issues(column: CheckedColumn, issues: Mapping[Cell, Issue]) -> Iterator[tuple[int, Issue, str | None]]:
    """Yield the index, the issue and the text of each cell that has one."""
    if issues:
        for index, cell in enumerate(column.cells):
            if cell in issues:
                text = written(cell)
                yield index, issues[cell], text if text.strip() else None


class ClosedColumns:
    """Counts the stores that each unused column says are closed as of a day, batch by batch."""

    def __init__(self, as_of: date) -> None:
        self._as_of = as_of
        self._testers: dict[str, Callable[[Cell], bool]] = {}
        self._first: dict[str, tuple[Location, str]] = {}
        self._closed: dict[str, array[int]] = {}  # the indices of records

    def add(
        self, columns: Mapping[str, Sequence[Cell]], is_open: Sequence[bool], batch: BatchDiagnostics, first: int
    ) -> None:
        """Add the columns of a batch that begins with a record; `is_open` says which are to be served as open."""
        for name, cells in columns.items():
            if name not in self._testers:
                self._testers[name] = closed_tester(name, self._as_of)
            is_closed = self._testers[name]
            closed = [index for index, cell in enumerate(cells) if is_open[index] and is_closed(cell)]
            self._closed.setdefault(name, array("q")).extend(first + index for index in closed)
            if closed and name not in self._first:
                cell = cells[closed[0]]
                self._first[name] = batch.location(closed[0], truncate(name)), cell if isinstance(cell, str) else "true"

    def warnings(self, dropped: AbstractSet[int]) -> Iterator[Diagnostic]:
        """Yield a warning for each column with closed stores, at the first; of `dropped` records none is served."""
        for name, (location, text) in self._first.items():
            if count := sum(index not in dropped for index in self._closed[name]):
                marks = f"{counted(count, 'store')} that this column marks as closed {'is' if count == 1 else 'are'}"
                yield location.diagnostic(Issue("closed", f"{marks} served as open; map it to is_open"), text)


_Batch: TypeAlias = tuple[str, Sequence[int], Callable[[], Sequence[int | None]]]


class RecordPlaces:
    """The files, numbers and lines of the records of a resource, by index: unreadable ones have none."""

    def __init__(self) -> None:
        self._count = 0
        self._starts: list[int] = []
        self._batches: list[_Batch] = []

    def __len__(self) -> int:
        return self._count

    def add(self, batch: Batch, file: str) -> None:
        """Add the records of the next batch."""
        self._starts.append(self._count)
        self._batches.append((file, batch.numbers, batch.lines))
        self._count += len(batch.numbers)

    def location(self, index: int, field: str) -> Location:
        """Return the location of a field of a record."""
        place = bisect_right(self._starts, index) - 1
        file, numbers, lines = self._batches[place]
        within = index - self._starts[place]
        return Location(file, lines()[within], numbers[within], field)


_CYCLE: Final = Issue("parent", "the company is its own ancestor")


class ParentReference(msgspec.Struct, frozen=True):
    """The parent of a company record; `company` is its identifier, None if the record is not served."""

    company: str | None
    parent: str
    location: Location


def parent_warnings(references: Sequence[ParentReference], companies: AbstractSet[str]) -> list[Diagnostic]:
    """Return a warning for each parent that is not a company, and for each company in a cycle of parents."""
    cyclic = _cyclic({each.company: each.parent for each in references if each.company is not None})
    unknown = [
        each.location.diagnostic(UNKNOWN_PARENT, each.parent) for each in references if each.parent not in companies
    ]
    return unknown + [each.location.diagnostic(_CYCLE, each.parent) for each in references if each.company in cyclic]


def _cyclic(parents: Mapping[str, str]) -> set[str]:
    """Return the companies that are their own ancestors."""
    cyclic: set[str] = set()
    visited_from: dict[str, str] = {}  # company -> the start of the walk that visited it first
    for start in parents:
        company = start
        while company in parents and company not in visited_from:
            visited_from[company] = start
            company = parents[company]
        while visited_from.get(company) == start and company not in cyclic:
            cyclic.add(company)
            company = parents[company]
    return cyclic

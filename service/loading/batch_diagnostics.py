"""Diagnostics of records: their numbers and locations, of columns that mark stores as closed, and of parents."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date
from typing import ClassVar, Final, TypeAlias

from service.loading.checks import PARENT, UNKNOWN_PARENT, CheckedColumn
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


def issues(column: CheckedColumn, found: Mapping[Cell, Issue]) -> Iterator[tuple[int, Issue, str | None]]:
    """Yield the index, the issue and the text of each cell that has one."""
    if found:
        for index, cell in enumerate(column.cells):
            if cell in found:
                text = written(cell)
                yield index, found[cell], text if text.strip() else None


class RecordPlaces:
    """The files, numbers and lines of the records of a resource, by index: unreadable ones have none."""

    def __init__(self) -> None:
        self._count = 0
        self._starts: list[int] = []
        self._batches: list[tuple[str, Sequence[int], Callable[[], Sequence[int | None]]]] = []
        self._last: tuple[int, Sequence[int | None]] = -1, ()  # a batch, and its lines

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
        if self._last[0] != place:
            self._last = place, lines()
        within = index - self._starts[place]
        return Location(file, self._last[1][within], numbers[within], field)


class CountedWarnings:
    """Counts the stores with warnings of which each is listed once, at the first store."""

    codes: ClassVar = frozenset({"timezone", "holidays"})

    def __init__(self) -> None:
        self._found: dict[Issue, tuple[Location, str | None]] = {}  # of the first
        self._counts = Counter[Issue]()

    def add(self, issue: Issue, location: Location, text: str | None) -> None:
        """Count a warning."""
        self._found.setdefault(issue, (location, text))
        self._counts[issue] += 1

    def warnings(self) -> Iterator[Diagnostic]:
        """Yield each warning with the number of its stores."""
        for issue, (location, text) in self._found.items():
            why = f"{counted(self._counts[issue], 'store')}: {issue.why}"
            yield location.diagnostic(Issue(issue.code, why), text)


class ClosedColumns:
    """Counts the stores that each unused column says are closed as of a day, batch by batch."""

    def __init__(self, as_of: date) -> None:
        self._as_of = as_of
        self._testers: dict[str, Callable[[Cell], bool]] = {}
        self._texts: dict[str, str] = {}  # of the first closed store
        self._closed: dict[str, array[int]] = {}  # the indices of records

    def add(self, columns: Mapping[str, Sequence[Cell]], is_open: Sequence[bool], first: int) -> None:
        """Add the columns of a batch that begins with a record; `is_open` says which are to be served as open."""
        for name, cells in columns.items():
            if name not in self._testers:
                self._testers[name] = closed_tester(name, self._as_of)
            is_closed = self._testers[name]
            closed = [index for index, cell in enumerate(cells) if is_open[index] and is_closed(cell)]
            self._closed.setdefault(name, array("q")).extend(first + index for index in closed)
            if closed and name not in self._texts:
                cell = cells[closed[0]]
                self._texts[name] = cell if isinstance(cell, str) else "true"

    def warnings(self, dropped: AbstractSet[int], places: RecordPlaces) -> Iterator[Diagnostic]:
        """Yield a warning for each column with closed stores, at the first; of `dropped` records none is served."""
        for name, text in self._texts.items():
            if count := sum(index not in dropped for index in self._closed[name]):
                marks = f"{counted(count, 'store')} that this column marks as closed {'is' if count == 1 else 'are'}"
                issue = Issue("closed", f"{marks} served as open; map it to is_open")
                yield places.location(self._closed[name][0], truncate(name)).diagnostic(issue, text)


_CYCLE: Final = Issue("parent", "the company is its own ancestor")
# The index of a company record -> its identifier, None if it is not served, and its parent.
Parents: TypeAlias = Mapping[int, tuple[str | None, str]]


def parent_warnings(parents: Parents, companies: AbstractSet[str], places: RecordPlaces) -> Iterator[Diagnostic]:
    """Yield a warning for each parent that is not a company, and for each company in a cycle of parents."""
    cyclic = _cyclic({company: parent for company, parent in parents.values() if company is not None})
    for index, (company, parent) in parents.items():
        if parent not in companies:
            yield places.location(index, PARENT).diagnostic(UNKNOWN_PARENT, parent)
        if company in cyclic:
            yield places.location(index, PARENT).diagnostic(_CYCLE, parent)


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

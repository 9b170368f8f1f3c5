"""The errors and warnings of one batch of records, and the number of warnings of its file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from service.loading.checks import CheckedColumn
from service.reading.batches.batch import Batch, Cell, Invalid, WrongType
from service.reading.batches.diagnostics import Diagnostic, DiagnosticCode, Issue, Location

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
        yield from ((index, issues[cell], _text(cell)) for index, cell in enumerate(column.cells) if cell in issues)


def _text(cell: Cell) -> str | None:
    if isinstance(cell, WrongType | Invalid):
        return cell.text
    return cell if isinstance(cell, str) and cell.strip() else None

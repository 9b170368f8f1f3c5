"""Warn of unused columns that say that stores are closed, which are served as open."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from service.loading.batch_diagnostics import BatchDiagnostics
from service.reading.batches.batch import Cell
from service.reading.batches.diagnostics import Diagnostic, Issue
from service.reading.values.closed_cells import ClosedCells
from service.texts import counted, truncate


class ClosedColumns:
    """Counts the stores that each unused column says are closed as of a day, batch by batch."""

    def __init__(self, as_of: date) -> None:
        self._as_of = as_of
        self._cells: dict[str, ClosedCells] = {}
        self._first: dict[str, tuple[BatchDiagnostics, int, str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, columns: Mapping[str, Sequence[Cell]], is_open: Sequence[bool], batch: BatchDiagnostics) -> None:
        """Add the columns of a batch; `is_open` says which of its records are served as open."""
        for name, cells in columns.items():
            known = self._cells.setdefault(name, ClosedCells(name, self._as_of))
            closed = [index for index, cell in enumerate(cells) if is_open[index] and known.is_closed(cell)]
            self._counts[name] += len(closed)
            if closed and name not in self._first:
                self._first[name] = batch, closed[0], _text(cells[closed[0]])

    def warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each column with closed stores, at the first; call it at the end of the file."""
        for name, (batch, index, text) in self._first.items():
            are, they_are = ("is", "it is") if self._counts[name] == 1 else ("are", "they are")
            found = f"says that {counted(self._counts[name], 'store')} {are} closed, but {they_are} served as open"
            issue = Issue("closed", f"{found}; make is_open of it with a mapping")
            yield batch.location(index, truncate(name)).diagnostic(issue, text)


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "true"

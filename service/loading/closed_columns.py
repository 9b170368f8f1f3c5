"""Warn of unused columns that say that stores are closed, which are served as open."""

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date

from service.loading.batch_diagnostics import BatchDiagnostics
from service.reading.batches.batch import Cell
from service.reading.batches.diagnostics import Diagnostic, Issue, Location
from service.reading.values.closed_cells import ClosedCells
from service.texts import counted, truncate


class ClosedColumns:
    """Counts the stores that each unused column says are closed as of a day, batch by batch."""

    def __init__(self, as_of: date) -> None:
        self._as_of = as_of
        self._cells: dict[str, ClosedCells] = {}
        self._first: dict[str, tuple[Location, str]] = {}
        self._closed: dict[str, array[int]] = {}  # the indices of records

    def add(
        self, columns: Mapping[str, Sequence[Cell]], is_open: Sequence[bool], batch: BatchDiagnostics, first: int
    ) -> None:
        """Add the columns of a batch that begins with a record; `is_open` says which are to be served as open."""
        for name, cells in columns.items():
            known = self._cells.setdefault(name, ClosedCells(name, self._as_of))
            closed = [index for index, cell in enumerate(cells) if is_open[index] and known.is_closed(cell)]
            self._closed.setdefault(name, array("q")).extend(first + index for index in closed)
            if closed and name not in self._first:
                self._first[name] = batch.location(closed[0], truncate(name)), _text(cells[closed[0]])

    def warnings(self, dropped: AbstractSet[int]) -> Iterator[Diagnostic]:
        """Yield a warning for each column with closed stores, at the first; of `dropped` records none is served."""
        for name, (location, text) in self._first.items():
            if count := sum(index not in dropped for index in self._closed[name]):
                are, they_are = ("is", "it is") if count == 1 else ("are", "they are")
                found = f"says that {counted(count, 'store')} {are} closed, but {they_are} served as open"
                yield location.diagnostic(Issue("closed", f"{found}; make is_open of it with a mapping"), text)


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "true"

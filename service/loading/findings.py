"""What is found in one batch of records, each at its place."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from service.loading.batch import Batch, Cell, Mistyped
from service.loading.checks import CheckedColumn
from service.loading.faults import Fault, Flaw, Place
from service.loading.warning_counts import WarningCounts

_NO_FIELD: Final = -1  # what is told of a whole record comes before its fields


class Findings:
    """The faults and warnings of a batch. Records are meant by their place in the batch.

    sound  for each record, whether its fields are without fault
    """

    def __init__(self, file: str, batch: Batch, columns: Sequence[CheckedColumn], tally: WarningCounts) -> None:
        """Find the broken records of a file's batch and the odd cells of its columns; the tally counts warnings."""
        self._file, self._batch, self._tally = file, batch, tally
        self._order = {column.field.name: order for order, column in enumerate(columns)}
        self._faults = [Place(file, it.line, it.record).fault(it.flaw, it.text) for it in batch.broken]
        self._warnings: list[Fault] = []
        self.sound = [True] * len(batch.numbers)
        for column in columns:
            for place, flaw, text in _found(column, column.warnings):
                self.warn(place, column.field.name, flaw, text)
            for place, flaw, text in _found(column, column.flaws):
                self.fault(place, column.field.name, flaw, text)
                self.sound[place] = False

    def fault(self, place: int, field: str, flaw: Flaw, value: str | None) -> None:
        """Add what costs a record."""
        self._faults.append(self.place(place, field).fault(flaw, value))

    def warn(self, place: int, field: str, flaw: Flaw, value: str | None) -> None:
        """Add what is odd about a record and costs nothing; it is counted, and listed if the tally admits it."""
        if self._tally.admits(flaw.code, field):
            self._warnings.append(self.place(place, field).fault(flaw, value))

    @property
    def faults(self) -> list[Fault]:
        """What costs records, in the order of the records, then of the fields."""
        return sorted(self._faults, key=self._rank)

    @property
    def warnings(self) -> list[Fault]:
        """What costs nothing and is listed, in the same order."""
        return sorted(self._warnings, key=self._rank)

    def place(self, place: int, field: str) -> Place:
        """Return where a record's field stands in the file."""
        return Place(self._file, self._lines[place], self._batch.numbers[place], field)

    @cached_property
    def _lines(self) -> Sequence[int]:
        return self._batch.lines()

    def _rank(self, fault: Fault) -> tuple[int, int]:
        return fault.record or 0, self._order.get(fault.field or "", _NO_FIELD)


def _found(column: CheckedColumn, flaws: Mapping[Cell, Flaw]) -> Iterator[tuple[int, Flaw, str | None]]:
    """Yield the place, the flaw and the text of each cell that has one."""
    if flaws:
        yield from ((place, flaws[cell], _written(cell)) for place, cell in enumerate(column.cells) if cell in flaws)


def _written(cell: Cell) -> str | None:
    if isinstance(cell, Mistyped):
        return cell.text
    return cell if isinstance(cell, str) and cell.strip() else None

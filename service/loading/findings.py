"""What is found in one batch of records, each at its place."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from service.loading.batch import Batch, Cell, Mistyped
from service.loading.checks import Column
from service.loading.faults import Fault, Flaw, Place

_NO_FIELD: Final = -1  # what is told of a whole record comes before its fields


class Findings:
    """The faults and warnings of a batch. Records are meant by their place in the batch.

    sound  for each record, whether its fields are without fault
    """

    def __init__(self, file: str, batch: Batch, columns: Sequence[Column]) -> None:
        """Find the broken records of a file's batch and the cells at fault in its columns."""
        self._file, self._batch = file, batch
        self._order = {column.field.name: order for order, column in enumerate(columns)}
        self._faults = [Place(file, it.line, it.record).fault(it.flaw, it.text) for it in batch.broken]
        self._warnings: list[Fault] = []
        self.sound = [True] * len(batch.numbers)
        for column in columns:
            self._warnings += [self._told(place, column, column.warnings) for place in _among(column, column.warnings)]
            for place in _among(column, column.flaws):
                self._faults.append(self._told(place, column, column.flaws))
                self.sound[place] = False

    def fault(self, place: int, field: str, flaw: Flaw, value: str) -> None:
        """Add what costs a record and shows only when it is compared with others."""
        self._faults.append(self.place(place, field).fault(flaw, value))

    def warn(self, place: int, field: str, flaw: Flaw, value: str) -> None:
        """Add what is odd about a record when it is compared with others."""
        self._warnings.append(self.place(place, field).fault(flaw, value))

    @property
    def faults(self) -> list[Fault]:
        """What costs records, in the order of the records, then of the fields."""
        return sorted(self._faults, key=self._rank)

    @property
    def warnings(self) -> list[Fault]:
        """What costs nothing, in the same order."""
        return sorted(self._warnings, key=self._rank)

    def place(self, place: int, field: str) -> Place:
        """Return where a record's field stands in the file."""
        return Place(self._file, self._lines[place], self._batch.numbers[place], field)

    @cached_property
    def _lines(self) -> Sequence[int]:
        return self._batch.lines()

    def _told(self, place: int, column: Column, flaws: Mapping[Cell, Flaw]) -> Fault:
        cell = column.cells[place]
        return self.place(place, column.field.name).fault(flaws[cell], _written(cell))

    def _rank(self, fault: Fault) -> tuple[int, int]:
        return fault.record or 0, self._order.get(fault.field or "", _NO_FIELD)


def _among(column: Column, flaws: Mapping[Cell, Flaw]) -> list[int]:
    return [place for place, cell in enumerate(column.cells) if cell in flaws] if flaws else []


def _written(cell: Cell) -> str | None:
    if isinstance(cell, Mistyped):
        return cell.text
    return cell if isinstance(cell, str) and cell.strip() else None

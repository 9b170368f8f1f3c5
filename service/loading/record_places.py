"""Where the records of a file are, for what is found out about them after the whole file is read."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeAlias

from service.reading.batches.batch import Batch
from service.reading.batches.diagnostics import Location

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

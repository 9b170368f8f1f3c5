"""A worker's numbers, in memory that the other workers of its run can read."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

SEAT_BYTES: Final = 1 << 17
# The first number is the generation that the worker serves; its counts stand behind it.
_COUNTS: Final = slice(1, None)


class Seat(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The numbers of one worker, int64.

    everyone  gives those of all workers, itself and those that ended among them
    living    gives how many workers there are now
    alone     whether there can be only one
    """

    numbers: memoryview
    everyone: Callable[[], Iterable[memoryview]]
    living: Callable[[], int]
    alone: bool

    @property
    def counts(self) -> memoryview:
        """What this worker counts."""
        return self.numbers[_COUNTS]

    def all_counts(self) -> list[memoryview]:
        """Return what each worker counted until now."""
        return [numbers[_COUNTS] for numbers in self.everyone()]

    def serves(self, generation: int) -> None:
        """Tell the others what this worker serves; 0 is nothing."""
        self.numbers[0] = generation


def lone_seat() -> Seat:
    """Return the seat of a process that has no others beside it."""
    numbers = memoryview(bytearray(SEAT_BYTES)).cast("q")
    return Seat(numbers=numbers, everyone=lambda: (numbers,), living=lambda: 1, alone=True)

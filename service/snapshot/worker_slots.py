"""A worker's numbers, in memory that the other workers of its run can read."""

import mmap
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import sleep
from typing import Final

import msgspec

from service.files.locks import is_locked, try_lock

SLOT_BYTES: Final = 1 << 18
_ITEM_BYTES: Final = 8
# What holds while the worker lives: the generation that it serves, its open connections. Then what it counted.
_GENERATION, _CONNECTIONS, _FIRST_COUNT = range(3)
# Who looks whether a slot is taken holds it for a moment.
_LOOKS: Final = 20
_LOOK_SECONDS: Final = 0.01


class WorkerSlot(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The numbers of one worker, int64.

    everyone  gives those of all workers, itself and those that ended among them
    living    gives those of the workers that there are now; they may be cut behind what holds while a worker lives
    alone     whether there can be only one
    """

    numbers: memoryview
    everyone: Callable[[], Iterable[memoryview]]
    living: Callable[[], Sequence[memoryview]]
    alone: bool

    @property
    def counts(self) -> memoryview:
        """What this worker counts."""
        return self.numbers[_FIRST_COUNT:]

    def all_counts(self) -> list[memoryview]:
        """Return what each worker counted until now."""
        return [numbers[_FIRST_COUNT:] for numbers in self.everyone()]

    def serves(self, generation: int) -> None:
        """Tell the others what this worker serves; 0 is nothing."""
        self.numbers[_GENERATION] = generation

    def count_connection(self, change: int) -> None:
        """Count a connection as opened, by 1, or as closed, by -1."""
        self.numbers[_CONNECTIONS] += change

    def open_connections(self) -> int:
        """Return how many connections the living workers have: those of a worker end with it."""
        return sum(numbers[_CONNECTIONS] for numbers in self.living())


def single_slot() -> WorkerSlot:
    """Return the slot of a process that has no others beside it."""
    numbers = memoryview(bytearray(SLOT_BYTES)).cast("q")
    return WorkerSlot(numbers=numbers, everyone=lambda: (numbers,), living=lambda: (numbers,), alone=True)


class WorkerSlots:
    """The slots of a run: files in a folder, each locked by the worker that has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, count: int) -> None:
        """Make slots, so many in all. Raises OSError where there is no room."""
        for number in range(count):
            path = self._folder / f"slot-{number}"
            if not path.exists():
                path.touch(mode=0o600)
                path.write_bytes(bytes(SLOT_BYTES))  # all of it: to touch a hole on a full disk is to die

    def take(self) -> WorkerSlot:
        """Return a free slot: where a worker ended, its numbers go on.

        Raises OSError where there is none, and none can be made.
        """
        paths = self._paths()
        for _ in range(_LOOKS if paths else 0):
            for path in paths:
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                if try_lock(descriptor):
                    return self._slot(descriptor)
                os.close(descriptor)
            sleep(_LOOK_SECONDS)
        self.add(len(paths) + 1)
        return self.take()

    def _slot(self, descriptor: int) -> WorkerSlot:
        numbers = memoryview(mmap.mmap(descriptor, SLOT_BYTES)).cast("q")
        slot = WorkerSlot(numbers=numbers, everyone=self._everyone, living=self._living, alone=False)
        numbers[_GENERATION] = numbers[_CONNECTIONS] = 0
        return slot

    def serving(self) -> list[int]:
        """Return which generation each worker that lives serves; 0 is none."""
        return [numbers[_GENERATION] for numbers in self._living()]

    def _living(self) -> list[memoryview]:
        taken = [path for path in self._paths() if is_locked(path, shared=True)]
        return [memoryview(_read(path, _FIRST_COUNT * _ITEM_BYTES)).cast("q") for path in taken]

    def _everyone(self) -> list[memoryview]:
        return [memoryview(_read(path, SLOT_BYTES)).cast("q") for path in self._paths()]

    def _paths(self) -> list[Path]:
        return [path for path in sorted(self._folder.glob("slot-*")) if path.stat().st_size == SLOT_BYTES]


def _read(path: Path, length: int) -> bytes:
    with path.open("rb") as file:
        return file.read(length)

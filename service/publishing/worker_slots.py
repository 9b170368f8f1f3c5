"""Worker slots: the counters of each worker, in memory that all workers of the run can read."""

import mmap
import os
from pathlib import Path
from time import sleep
from typing import Final

from service.files import is_locked, try_lock

SLOT_BYTES: Final = 1 << 18
_ITEM_BYTES: Final = 8
# State of the living worker: the generation that it serves, its open connections, its requests in flight, and its PID.
# Then its counters.
_GENERATION, _CONNECTIONS, _IN_FLIGHT, _PID, _FIRST_COUNT = range(5)
# A check whether a slot is free locks it for a moment, so claiming one is retried.
_ATTEMPTS: Final = 20
_RETRY_SECONDS: Final = 0.01


class WorkerSlot:
    """The state and counters of one worker, as int64 numbers.

    counts  the counters
    alone   whether the process is the only one of its run
    """

    def __init__(self, numbers: memoryview, run: "WorkerSlots | None" = None) -> None:
        """Take the numbers of a worker that ended, or zeros, in the slots of a run unless it is alone."""
        numbers[_GENERATION] = numbers[_CONNECTIONS] = numbers[_IN_FLIGHT] = 0
        numbers[_PID] = os.getpid()
        self.numbers, self.counts, self._run, self.alone = numbers, numbers[_FIRST_COUNT:], run, run is None

    def living(self) -> dict[int, memoryview]:
        """Return the state of the living workers by their number, perhaps with their counters."""
        return self._run.living() if self._run else {0: self.numbers}

    def all_counts(self) -> list[memoryview]:
        """Return the counters of all workers, including this one and those that have ended."""
        return self._run.counts() if self._run else [self.counts]

    def set_generation(self, generation: int) -> None:
        """Record which generation this worker serves; 0 is none."""
        self.numbers[_GENERATION] = generation

    def count_connection(self, change: int) -> None:
        """Add 1 for an opened connection, -1 for a closed one."""
        self.numbers[_CONNECTIONS] += change

    def open_connections(self) -> int:
        """Return the number of open connections of the living workers."""
        return sum(numbers[_CONNECTIONS] for numbers in self.living().values())

    def count_in_flight(self, change: int) -> None:
        """Add 1 for a request whose answer is not made at once, -1 when it is made, or its body has ended."""
        self.numbers[_IN_FLIGHT] += change

    def requests_in_flight(self) -> int:
        """Return the number of requests in flight of the living workers."""
        return sum(numbers[_IN_FLIGHT] for numbers in self.living().values())

    def processes(self) -> dict[str, int]:
        """Return the PIDs of the run: of each living worker by its number, and of their parent as `parent`."""
        workers = {str(number): numbers[_PID] for number, numbers in self.living().items() if numbers[_PID]}
        return workers if self.alone else {"parent": os.getppid(), **workers}


def single_slot() -> WorkerSlot:
    """Return the slot of a process that is the only one of its run."""
    return WorkerSlot(memoryview(bytearray(SLOT_BYTES)).cast("q"))


class WorkerSlots:
    """The slots of a run: files in a folder, each locked by its worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, count: int) -> None:
        """Create slots up to this number. Raises OSError on a full disk."""
        for number in range(count):
            path = self._folder / f"slot-{number}"
            if not path.exists():
                path.touch(mode=0o600)
                path.write_bytes(bytes(SLOT_BYTES))  # no hole: writing to one on a full disk raises SIGBUS

    def claim(self) -> WorkerSlot:
        """Claim a free slot. One of a worker that ended keeps its counters.

        Raises OSError if there is none and none can be created.
        """
        paths = self._paths()
        for _ in range(_ATTEMPTS if paths else 0):
            for path in paths:
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                if try_lock(descriptor):
                    return WorkerSlot(memoryview(mmap.mmap(descriptor, SLOT_BYTES)).cast("q"), self)
                os.close(descriptor)
            sleep(_RETRY_SECONDS)
        self.add(len(paths) + 1)
        return self.claim()

    def generations(self) -> list[int]:
        """Return the generations that the living workers serve; 0 is none."""
        return [numbers[_GENERATION] for numbers in self.living().values()]

    def living(self) -> dict[int, memoryview]:
        """Return the state of the living workers by their number."""
        claimed = {int(path.name[len("slot-") :]): path for path in self._paths() if is_locked(path, shared=True)}
        return {number: _read(path, _FIRST_COUNT * _ITEM_BYTES) for number, path in claimed.items()}

    def counts(self) -> list[memoryview]:
        """Return the counters of all workers."""
        return [_read(path, SLOT_BYTES)[_FIRST_COUNT:] for path in self._paths()]

    def _paths(self) -> list[Path]:
        return [path for path in sorted(self._folder.glob("slot-*")) if path.stat().st_size == SLOT_BYTES]


def _read(path: Path, length: int) -> memoryview:
    with path.open("rb") as file:
        return memoryview(file.read(length)).cast("q")

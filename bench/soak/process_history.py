"""The memory, descriptors and threads of the processes of a service over time, and whether they grow."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from bench import processes
from bench.report import table
from service.publishing import compiler_process as compiler
from tests.program import command_line

# Less than the caches of a worker, and less than a leak of 10 bytes a request.
MAX_GROWTH: Final = 8e6  # bytes an hour
MAX_MORE: Final = 4  # descriptors or threads
# A slope over less time shows the allocator, not a leak.
_SHORTEST_SECONDS: Final = 1200
WARM_UP: Final = 1 / 6  # of the time


class Sample(msgspec.Struct, frozen=True):
    """The state of a process at a time in seconds: bytes of private memory, open descriptors, threads."""

    at: float
    memory: int
    descriptors: int
    threads: int


class History(msgspec.Struct, frozen=True):
    """The samples of a process."""

    name: str
    pid: int
    samples: list[Sample]

    @property
    def warm(self) -> Sequence[Sample]:
        """The samples after the warm-up."""
        first, last = self.samples[0].at, self.samples[-1].at
        return [each for each in self.samples if each.at >= first + (last - first) * WARM_UP]

    @property
    def growth(self) -> float:
        """Bytes an hour after the warm-up: the median of the slopes between all pairs (Theil and Sen)."""
        pairs = combinations(self.warm, 2)
        slopes = [(later.memory - earlier.memory) / (later.at - earlier.at) for earlier, later in pairs]
        return median(slopes) * 3600 if slopes else 0.0

    @property
    def missed(self) -> Iterator[str]:
        """What grows too much."""
        warm = self.warm
        if warm[-1].at - warm[0].at >= _SHORTEST_SECONDS and self.growth > MAX_GROWTH:
            yield f"{self.name}: its memory grows by {self.growth / 1e6:.1f} MB an hour"
        for what in ("descriptors", "threads"):
            counts = [getattr(each, what) for each in warm]
            if max(counts[len(counts) // 2 :]) > counts[0] + MAX_MORE:
                yield f"{self.name}: it has {max(counts)} {what}, and had {counts[0]}"


def sample(pid: int, at: float) -> Sample:
    """Return the state of a process now. Raises OSError if it has ended."""
    home = Path(f"/proc/{pid}")
    held = [len(list((home / name).iterdir())) for name in ("fd", "task")]
    return Sample(at, processes.memory_of(pid).anonymous, *held)


def members(pid: int) -> list[int]:
    """Return the permanent processes of a service: all but compilers."""
    return [each for each in processes.family(pid) if compiler.__name__ not in command_line(each)]


def markdown(histories: Iterable[History]) -> str:
    """Return the processes as a table."""
    head = ("process", "private memory after the warm-up, MB", "most", "at the end", "growth, MB an hour")
    return table((*head, "descriptors, from", "to", "threads, from", "to"), map(_row, histories))


def _row(each: History) -> Sequence[str]:
    warm = each.warm
    sizes = (warm[0].memory, max(each.memory for each in warm), warm[-1].memory)
    counts = [[getattr(one, what) for one in warm] for what in ("descriptors", "threads")]
    spans = [str(bound) for count in counts for bound in (min(count), max(count))]
    return (each.name, *(f"{size / 1e6:.1f}" for size in sizes), f"{each.growth / 1e6:+.1f}", *spans)

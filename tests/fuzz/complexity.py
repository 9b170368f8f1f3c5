"""Check whether the CPU time of a reader grows faster than its input, and measure it."""

import gc
import logging
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from math import inf
from operator import attrgetter
from time import process_time, thread_time
from typing import Final, NoReturn

import msgspec

from bench.processes import caches
from tests.fuzz.input_shapes import Alphabet, Shape

Read = Callable[[bytes], object]
# Returns the CPU time of a reader on an input, in seconds; infinity if it was stopped.
Work = Callable[[Read, bytes], float]

_SMALLEST: Final = 4096
_MAX_DOUBLINGS: Final = 11
_DOUBLINGS: Final = 3  # from the smallest size to a reader's limit, and from there to the largest
_POINTS: Final = 3  # n, 2n and 4n
# Twice the input takes twice the time if that is linear, four times if it is quadratic. What is close to the bound may
# exceed it with longer inputs.
_SUPERLINEAR: Final = 2.5
_CLOSE: Final = 2.25
_CLEARLY_LINEAR: Final = 1.5
_NEGLIGIBLE_SECONDS: Final = 2e-4
_LONGEST_SECONDS: Final = 0.5
# Other programs on the machine add time: the minimum of some runs counts, and only what is superlinear in each round.
_ROUNDS: Final = 5
_REPEATS: Final = 3
_MAX_FOUND: Final = 3


class Reader(msgspec.Struct, frozen=True):
    """A function that reads any bytes, and the tokens of its syntax."""

    read: Read
    alphabet: Alphabet


class Growth(msgspec.Struct, frozen=True):
    """The CPU time of a reader on inputs of one shape: of n, 2n and 4n bytes, or of one on which it was stopped."""

    shape: Shape
    sizes: Sequence[int]
    seconds: Sequence[float]

    @property
    def factor(self) -> float:
        """The minimum factor of the time for a doubling of the input."""
        return inf if self.seconds[-1] == inf else min(more / less for less, more in pairwise(self.seconds))

    @property
    def superlinear(self) -> bool:
        """Whether each doubling of the input takes clearly more than twice the time."""
        return not self.negligible and self.factor > _SUPERLINEAR

    @property
    def negligible(self) -> bool:
        """Whether the time is too short to be measured, or to harm."""
        return self.seconds[-1] < _NEGLIGIBLE_SECONDS

    def __str__(self) -> str:
        """Return the figures in one line."""
        work = ", ".join(f"{1e3 * seconds:.2f}" for seconds in self.seconds)
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        return f"{self.factor:.2f} per doubling: {work} ms for {sizes} bytes of {self.shape}"


class Verdict(msgspec.Struct, frozen=True):
    """The result for a reader: the number of shapes, the worst that is not negligible, the superlinear ones."""

    shapes: int
    worst: Growth | None
    superlinear: Sequence[Growth]


def measure(readers: Mapping[str, Reader], seconds: float, work: Work) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdict on each reader; all shapes together take about so many seconds of CPU time."""
    deadline = process_time() + seconds
    left = sum(1 for reader in readers.values() for _ in reader.alphabet.shapes())
    for name, reader in readers.items():
        shapes = list(reader.alphabet.shapes())
        yield name, judge(reader, (deadline - process_time()) * len(shapes) / left, work)
        left -= len(shapes)


def judge(reader: Reader, seconds: float, work: Work) -> Verdict:
    """Return the verdict on a reader; its shapes share the time."""
    deadline = process_time() + seconds
    shapes = list(reader.alphabet.shapes())
    worst: Growth | None = None
    superlinear: list[Growth] = []
    for tried, shape in enumerate(shapes):
        share = (deadline - process_time()) / (len(shapes) - tried)
        for growth in _growths(reader, shape, share, work):
            if growth.negligible or growth.factor <= min(_CLOSE, worst.factor if worst else _CLEARLY_LINEAR):
                continue
            confirmed = _confirmed(reader, growth, work)
            worst = max(filter(None, (worst, confirmed)), key=attrgetter("factor"))
            if confirmed.superlinear:
                superlinear.append(confirmed)
                break
        if len(superlinear) == _MAX_FOUND:
            return Verdict(tried + 1, worst, superlinear)
    return Verdict(len(shapes), worst, superlinear)


def _growths(reader: Reader, shape: Shape, seconds: float, work: Work) -> Iterator[Growth]:
    """Yield the growth in longer and longer inputs, up to the reader's limit, and beyond it as long as time allows.

    Where the last doubling cost too much, the next one is tried in any case.
    """
    deadline = process_time() + seconds
    limit = reader.alphabet.limit
    sizes: list[int] = []
    taken: list[float] = []
    for size in _sizes(limit):
        sample = shape.sample(size)
        sizes.append(len(sample))
        taken.append(work(reader.read, sample))
        if taken[-1] == inf:
            yield Growth(shape, sizes[-1:], taken[-1:])
            return
        if len(taken) >= _POINTS:
            yield Growth(shape, sizes[-_POINTS:], taken[-_POINTS:])
            rising = _CLOSE * taken[-2] < taken[-1] < _LONGEST_SECONDS
            if size >= limit and not rising and process_time() + 2 * taken[-1] > deadline:
                return


def _sizes(limit: int) -> list[int]:
    smallest, doublings = (limit >> _DOUBLINGS, 2 * _DOUBLINGS) if limit else (_SMALLEST, _MAX_DOUBLINGS)
    return [smallest << doubling for doubling in range(doublings + 1)]


def _confirmed(reader: Reader, growth: Growth, work: Work) -> Growth:
    """Return what is measured again, of longer inputs where that is not clear.

    Where inputs may be of any length, what is superlinear must still be so in inputs of twice the length: work in
    batches grows by steps.
    """
    shape = growth.shape
    size = growth.sizes[0] - len(shape.start) - len(shape.end)
    found, needed = 0, 1 if reader.alphabet.limit else 2
    while growth.factor < inf:
        for _ in range(_ROUNDS):
            growth = _measured_again(reader, shape, size, work)
            if not growth.superlinear:
                break
        found = found + 1 if growth.superlinear else 0
        if found == needed or growth.factor < _CLOSE or growth.seconds[-1] > _LONGEST_SECONDS:
            break
        size *= 2
    return growth


def _measured_again(reader: Reader, shape: Shape, size: int, work: Work) -> Growth:
    samples = [shape.sample(size << doubling) for doubling in range(_POINTS)]
    rounds = [[work(reader.read, sample) for sample in samples] for _ in range(_REPEATS)]
    return Growth(shape, list(map(len, samples)), list(map(min, *rounds)))


LONGEST_SECONDS: Final = 10
_COLLECT_AFTER: Final = 200  # calls
# Packages whose caches would answer in place of the reader when an input is read again.
_CACHING: Final = ("service.", "yarl.")


class _Stopped(BaseException):
    """A reader has exceeded its time limit."""


@contextmanager
def cpu_time() -> Iterator[Callable[[Callable[[bytes], object], bytes], float]]:
    """Yield a function that returns the seconds of CPU time of a reader, infinity if it is stopped.

    Meanwhile garbage collection and logging are off, and the timer and the handler of SIGPROF are in use.
    """
    clears, calls = caches(_CACHING), count()

    def measured(read: Callable[[bytes], object], sample: bytes) -> float:
        for clear in clears:
            clear()
        if next(calls) % _COLLECT_AFTER == 0:
            gc.collect()
        started = thread_time()
        try:
            signal.setitimer(signal.ITIMER_PROF, LONGEST_SECONDS)
            read(sample)
        except _Stopped:
            return inf
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return thread_time() - started

    earlier = signal.signal(signal.SIGPROF, _stop)
    gc.freeze()
    gc.disable()
    logging.disable()
    try:
        yield measured
    finally:
        logging.disable(logging.NOTSET)
        gc.enable()
        gc.unfreeze()
        signal.signal(signal.SIGPROF, earlier)


def _stop(*_: object) -> NoReturn:
    raise _Stopped

"""Asking workers again and again, and what came of it."""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.reloads.workers import Connection
from bench.wire import processes

_SHARE: Final = 0.999


class Answered(msgspec.Struct, frozen=True, gc=False):
    """An answer: of which worker, when it was there, how long it took and how much of that was waiting for a core.

    Moments and times are in seconds, of the monotonic clock.
    """

    worker: int
    at: float
    seconds: float
    waited: float
    version: bytes


class Waits(msgspec.Struct, frozen=True):
    """How long answers took, in seconds.

    number      of answers
    share       within which 99.9 % of them came
    longest     the longest
    held        the longest without the time in which worker or client were ready to run and had no core: the most
                that the event loop can have stood still
    """

    number: int
    share: float
    longest: float
    held: float


def waits(answers: Sequence[Answered]) -> Waits:
    """Return how long answers took."""
    ordered = sorted(answer.seconds for answer in answers)
    held = max(answer.seconds - answer.waited for answer in answers)
    return Waits(len(ordered), ordered[int(_SHARE * (len(ordered) - 1))], ordered[-1], held)


def answers(connections: Mapping[int, Connection], *, pause: float) -> Iterator[Answered]:
    """Ask each worker in turn, without end, and pause between the rounds for some seconds."""
    while True:
        for worker, connection in connections.items():
            yield _answered(worker, connection)
        if pause:
            time.sleep(pause)


def _answered(worker: int, connection: Connection) -> Answered:
    waited = _core_waits(worker)
    asked = time.monotonic()
    version = connection.ask()
    at = time.monotonic()
    return Answered(worker, at, at - asked, _core_waits(worker) - waited, version)


def _core_waits(worker: int) -> float:
    return processes.core_wait(worker) + processes.core_wait("self")


@contextmanager
def uncollected() -> Iterator[None]:
    """Let Python collect no garbage, which would look like a slow answer."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

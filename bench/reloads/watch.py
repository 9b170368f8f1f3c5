"""Repeated requests to each worker, and their latencies."""

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
    """A response: the worker, the time it arrived, its latency, and the part of that spent waiting for a core.

    Times are in seconds of the monotonic clock.
    """

    worker: int
    at: float
    seconds: float
    waited: float
    version: bytes


class Waits(msgspec.Struct, frozen=True):
    """Latencies in seconds.

    number      of responses
    share       the 99.9th percentile
    longest     the maximum
    held        the maximum without the time in which worker or client were ready to run but had no core: an upper
                bound for how long the event loop was blocked
    """

    number: int
    share: float
    longest: float
    held: float


def waits(answers: Sequence[Answered]) -> Waits:
    """Return the latencies of responses."""
    ordered = sorted(answer.seconds for answer in answers)
    held = max(answer.seconds - answer.waited for answer in answers)
    return Waits(len(ordered), ordered[int(_SHARE * (len(ordered) - 1))], ordered[-1], held)


def answers(connections: Mapping[int, Connection], *, pause: float) -> Iterator[Answered]:
    """Send a request to each worker in turn, endlessly, with a pause in seconds between the rounds."""
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
    """Disable garbage collection, which would look like a slow response."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

"""A reload as its clients observe it: repeated requests to each worker, and their latencies."""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import takewhile
from typing import Final

import msgspec

from bench.reloads.published_data import Published
from bench.reloads.worker_connections import Connection
from bench.wire import processes
from bench.wire.servers import Failed, Server
from bench.wire.shapes import KEY
from service.sources import compiler_process as compiler

_AFTER_SECONDS: Final = 1
_TIMEOUT_SECONDS: Final = 120
# The pause between searches for a compiler process: a search takes time in which no request is sent.
_SEARCH_SECONDS: Final = 0.05
_PERCENTILE: Final = 0.999


class Sent(msgspec.Struct, frozen=True, gc=False):
    """A request: its worker, the time of its response, its latency, the part of that without a core, the data version.

    Times are in seconds of the monotonic clock.
    """

    worker: int
    at: float
    seconds: float
    waited: float
    version: bytes


class Latencies(msgspec.Struct, frozen=True):
    """The 99.9th percentile and the maximum in seconds, and the maximum of the standstills.

    A standstill is the latency without the time in which worker or client were ready to run but had no core: an upper
    bound for how long the event loop was blocked.
    """

    percentile: float
    longest: float
    standstill: float

    @classmethod
    def of(cls, requests: Sequence[Sent]) -> "Latencies":
        """Return the latencies of requests."""
        ordered = sorted(each.seconds for each in requests)
        standstill = max(each.seconds - each.waited for each in requests)
        return cls(ordered[int(_PERCENTILE * (len(ordered) - 1))], ordered[-1], standstill)


class Reload(msgspec.Struct, frozen=True):
    """A reload, in seconds.

    last       from the last rename to the last worker's first new response
    skew       between the first worker's first new response and the last one's
    published  from the last rename until the data was published to the workers
    compiled   the lifetime of the compiler process; 0 without one
    """

    last: float
    skew: float
    published: float
    compiled: float


class _Ready(msgspec.Struct, frozen=True):
    loaded_at: datetime


class _Compilation:
    """Watches the compiler process of a server."""

    def __init__(self, server: Server) -> None:
        self._server, self._next = server, 0.0
        self._pid: int | None = None
        self._started = self.seconds = 0.0

    def check(self) -> None:
        """Check whether the process has started, then whether it has ended."""
        now = time.monotonic()
        if self._pid is None:
            if now >= self._next:
                self._next = now + _SEARCH_SECONDS
                self._find()
        elif not self.seconds and not processes.is_alive(self._pid):
            self.seconds = now - self._started

    def _find(self) -> None:
        for pid in processes.family(self._server.pid):
            if compiler.__name__ in processes.command(pid):
                self._pid, self._started = pid, processes.started_at(pid)


def reload(
    server: Server, connections: Mapping[int, Connection], data: Published, *, pause: float
) -> tuple[Reload, list[Sent]]:
    """Publish the other edition and send requests until a second after all workers serve it. Raises `Failed`."""
    versions = {worker: connection.send() for worker, connection in connections.items()}
    compilation = _Compilation(server)
    data.publish()
    published_at, published = time.time(), time.monotonic()
    sent: list[Sent] = []
    new: dict[int, float] = {}
    with _no_garbage_collection():
        for each in _requests(connections, pause=pause):
            sent.append(each)
            if pause:
                compilation.check()
            if each.version != versions[each.worker]:
                new.setdefault(each.worker, each.at)
            if len(new) == len(versions) and each.at > max(new.values()) + _AFTER_SECONDS:
                break
            if each.at > published + _TIMEOUT_SECONDS:
                raise Failed(f"{len(new)} of {len(versions)} workers had new data after {_TIMEOUT_SECONDS} s")
    loaded_at = msgspec.json.decode(server.fetch("/ready", KEY).body, type=_Ready).loaded_at.timestamp()
    first, last = min(new.values()), max(new.values())
    return Reload(last - published, last - first, loaded_at - published_at, compilation.seconds), sent


def no_reload(connections: Mapping[int, Connection], seconds: float) -> list[Sent]:
    """Send requests without pause for some seconds while the data does not change."""
    end = time.monotonic() + seconds
    with _no_garbage_collection():
        return list(takewhile(lambda each: each.at < end, _requests(connections, pause=0)))


def _requests(connections: Mapping[int, Connection], *, pause: float) -> Iterator[Sent]:
    """Send a request to each worker in turn, endlessly, with a pause in seconds between the rounds."""
    while True:
        for worker, connection in connections.items():
            waited, started = _core_waits(worker), time.monotonic()
            version = connection.send()
            at = time.monotonic()
            yield Sent(worker, at, at - started, _core_waits(worker) - waited, version)
        if pause:
            time.sleep(pause)


def _core_waits(worker: int) -> float:
    return processes.core_wait(worker) + processes.core_wait("self")


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which would look like a slow response."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

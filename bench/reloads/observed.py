"""A reload as its clients observe it."""

import time
from collections.abc import Mapping
from datetime import datetime
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from bench.reloads.editions import Place
from bench.reloads.watch import Answered, answers, uncollected
from bench.reloads.workers import Connection
from bench.wire import processes
from bench.wire.servers import Failed, Server
from bench.wire.shapes import KEY
from service.sources import compiler_process as compiler

_AFTER_SECONDS: Final = 1
_LONGEST_SECONDS: Final = 120
# The pause between searches for a compiler process: each takes a moment, in which no request is sent.
_SEARCH_SECONDS: Final = 0.05


class Reload(msgspec.Struct, frozen=True):
    """A reload, in seconds.

    last       from the last rename to the last worker's first new answer
    skew       between the first worker's first new answer and the last one's
    published  from the last rename until the data was published to the workers
    compiled   the lifetime of the compiler process; 0 without one
    """

    last: float
    skew: float
    published: float
    compiled: float


class _Confirmed(msgspec.Struct, frozen=True):
    """The fields of /ready about the last load."""

    loaded_at: datetime


class Seen(NamedTuple):
    """A reload and the responses until a second after it."""

    reload: Reload
    answers: list[Answered]


class _Compilation:
    """Watches the compiler process of a server."""

    def __init__(self, server: Server) -> None:
        self._server, self._next = server, 0.0
        self._pid: int | None = None
        self._began = self.seconds = 0.0

    def check(self) -> None:
        """Check whether the process has started, then whether it has ended."""
        now = time.monotonic()
        if self._pid is None:
            if now >= self._next:
                self._next = now + _SEARCH_SECONDS
                self._find()
        elif not self.seconds and not processes.is_alive(self._pid):
            self.seconds = now - self._began

    def _find(self) -> None:
        for pid in processes.family(self._server.pid):
            if compiler.__name__ in processes.command(pid):
                self._pid, self._began = pid, processes.began(pid)


def reload(server: Server, connections: Mapping[int, Connection], place: Place, *, pause: float) -> Seen:
    """Publish the other edition and send requests until a second after all workers serve it. Raises `Failed`."""
    versions = {worker: connection.ask() for worker, connection in connections.items()}
    compilation = _Compilation(server)
    published_at, published = _publish(place)
    seen: list[Answered] = []
    new: dict[int, float] = {}
    with uncollected():
        for answer in answers(connections, pause=pause):
            seen.append(answer)
            if pause:
                compilation.check()
            if answer.version != versions[answer.worker]:
                new.setdefault(answer.worker, answer.at)
            if len(new) == len(versions) and answer.at > max(new.values()) + _AFTER_SECONDS:
                break
            if answer.at > published + _LONGEST_SECONDS:
                raise Failed(f"{len(new)} of {len(versions)} workers had new data after {_LONGEST_SECONDS} s")
    found = Reload(
        last=max(new.values()) - published,
        skew=max(new.values()) - min(new.values()),
        published=_loaded_at(server) - published_at,
        compiled=compilation.seconds,
    )
    return Seen(found, seen)


def quiet(connections: Mapping[int, Connection], seconds: float) -> list[Answered]:
    """Send requests without pause for some seconds while the data does not change."""
    until = time.monotonic() + seconds
    with uncollected():
        return list(takewhile(lambda answer: answer.at < until, answers(connections, pause=0)))


def _publish(place: Place) -> tuple[float, float]:
    """Publish the other edition; return the time by the system clock and by the monotonic clock."""
    place.publish()
    return time.time(), time.monotonic()


def _loaded_at(server: Server) -> float:
    return msgspec.json.decode(server.ask("/ready", KEY).body, type=_Confirmed).loaded_at.timestamp()

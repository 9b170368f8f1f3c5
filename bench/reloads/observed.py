"""A reload as its clients see it."""

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
# How often it is looked whether a compilation began: that takes a moment, in which nobody asks.
_LOOK_SECONDS: Final = 0.05


class Reload(msgspec.Struct, frozen=True):
    """A reload, in seconds.

    last       from the last rename to the last worker's first new answer
    skew       between the first worker's first new answer and the last one's
    published  from the last rename until the data was published to the workers
    compiled   how long the process that compiled lived; 0 where there was none
    """

    last: float
    skew: float
    published: float
    compiled: float


class _Confirmed(msgspec.Struct, frozen=True):
    """What /ready tells of the last load."""

    loaded_at: datetime


class Seen(NamedTuple):
    """A reload and the answers meanwhile, up to a second after it."""

    reload: Reload
    answers: list[Answered]


class _Compilation:
    """Watches for the process that compiles under a server."""

    def __init__(self, server: Server) -> None:
        self._server, self._next = server, 0.0
        self._pid: int | None = None
        self._began = self.seconds = 0.0

    def look(self) -> None:
        """See whether it began, and then whether it ended."""
        now = time.monotonic()
        if self._pid is None:
            if now >= self._next:
                self._next = now + _LOOK_SECONDS
                self._find()
        elif not self.seconds and not processes.is_alive(self._pid):
            self.seconds = now - self._began

    def _find(self) -> None:
        for pid in processes.family(self._server.pid):
            if compiler.__name__ in processes.command(pid):
                self._pid, self._began = pid, processes.began(pid)


def reload(server: Server, connections: Mapping[int, Connection], place: Place, *, pause: float) -> Seen:
    """Put the other edition in place and ask until a second after all workers answer from it. Raises `Failed`."""
    versions = {worker: connection.ask() for worker, connection in connections.items()}
    compilation = _Compilation(server)
    turned_at, turned = _turn(place)
    seen: list[Answered] = []
    new: dict[int, float] = {}
    with uncollected():
        for answer in answers(connections, pause=pause):
            seen.append(answer)
            if pause:
                compilation.look()
            if answer.version != versions[answer.worker]:
                new.setdefault(answer.worker, answer.at)
            if len(new) == len(versions) and answer.at > max(new.values()) + _AFTER_SECONDS:
                break
            if answer.at > turned + _LONGEST_SECONDS:
                raise Failed(f"{len(new)} of {len(versions)} workers had new data after {_LONGEST_SECONDS} s")
    found = Reload(
        last=max(new.values()) - turned,
        skew=max(new.values()) - min(new.values()),
        published=_loaded_at(server) - turned_at,
        compiled=compilation.seconds,
    )
    return Seen(found, seen)


def quiet(connections: Mapping[int, Connection], seconds: float) -> list[Answered]:
    """Ask without pause for so long while nothing changes."""
    until = time.monotonic() + seconds
    with uncollected():
        return list(takewhile(lambda answer: answer.at < until, answers(connections, pause=0)))


def _turn(place: Place) -> tuple[float, float]:
    """Put the other edition in place; return when that was, by the calendar and by the monotonic clock."""
    place.turn()
    return time.time(), time.monotonic()


def _loaded_at(server: Server) -> float:
    return msgspec.json.decode(server.ask("/ready", KEY).body, type=_Confirmed).loaded_at.timestamp()

"""Timeouts of connections: what a connection waits for, for how long, and when that is checked."""

import asyncio
from collections.abc import Collection
from enum import Enum, auto
from fcntl import ioctl
from math import ceil
from struct import unpack
from termios import TIOCOUTQ
from typing import Final, Protocol

from service.web.connections.limits import Limits
from service.web.telemetry.events import Event

# Connections that are checked in one go. Thousands at once would hold up requests for 10 ms or more.
_BATCH: Final = 20


class State(Enum):
    """What a connection waits for."""

    HEAD = auto()  # the rest of a request's head, or the first request
    ANSWERING = auto()  # the application's response
    WRITING = auto()  # the client, to take the response
    BODY = auto()  # the rest of the body of a request that has its response
    IDLE = auto()  # the next request
    CLOSING = auto()  # the client, to close: the response was the last (RFC 9112 section 9.6)


# What is counted when a timeout ends a connection. The others end what is complete, but for the client's part.
TIMEOUT_EVENTS: Final = {
    State.HEAD: Event.HEAD_TIMEOUT,
    State.WRITING: Event.WRITE_TIMEOUT,
    State.IDLE: Event.IDLE_TIMEOUT,
}


def timeouts(limits: Limits) -> dict[State, float]:
    """Return the seconds that each state may last; the application has no timeout."""
    return {
        State.HEAD: limits.head_seconds,
        State.ANSWERING: float("inf"),
        State.WRITING: limits.write_seconds,
        State.BODY: limits.discard_seconds,
        State.IDLE: limits.idle_seconds,
        State.CLOSING: limits.discard_seconds,
    }


def unsent_bytes(transport: asyncio.Transport) -> int:
    """Return how much the client has not taken, in the process and in the system's send queue (tcp(7), SIOCOUTQ)."""
    file = transport.get_extra_info("socket").fileno()
    queued: int = unpack("i", ioctl(file, TIOCOUTQ, bytes(4)))[0] if file >= 0 else 0
    return transport.get_write_buffer_size() + queued


class Timed(Protocol):
    """Something that has a timeout."""

    def check_timeout(self, now: float) -> None:
        """End if the timeout has passed; `now` is the loop's time."""


class TimeoutSweep:
    """Checks all of some connections once in so many seconds, in batches, while there are any.

    A timer for each request would cost each request; a check costs nothing but itself.
    """

    def __init__(self, connections: Collection[Timed], seconds: float) -> None:
        self._connections, self._seconds = connections, seconds
        self._loop = asyncio.get_running_loop()
        self._round: list[Timed] = []
        self._pause = seconds
        self._runs = False

    def start(self) -> None:
        """Check from now on, until there are no connections."""
        if not self._runs:
            self._runs = True
            self._loop.call_later(self._seconds, self._check)

    def _check(self) -> None:
        if not self._round:
            self._round = list(self._connections)
            self._pause = self._seconds / max(1, ceil(len(self._round) / _BATCH))
        now = self._loop.time()
        for connection in self._round[-_BATCH:]:
            connection.check_timeout(now)
        del self._round[-_BATCH:]
        self._runs = bool(self._connections)
        if self._runs:
            self._loop.call_later(self._pause, self._check)
        else:
            self._round.clear()

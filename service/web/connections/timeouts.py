"""Timeouts of connections: the states of a connection, how long each may last, and the sweep that checks them."""

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

# Connections checked in one step of the event loop. Thousands at once would delay requests by 10 ms or more.
_BATCH: Final = 20


class State(Enum):
    """The states of a connection that have a timeout: what it waits for."""

    HEAD = auto()  # the rest of a request's head, or the first request
    ANSWERING = auto()  # the application's response
    WRITING = auto()  # the client, to receive the response
    BODY = auto()  # the rest of a body, after the response
    IDLE = auto()  # the next request
    CLOSING = auto()  # the client, to close: the response was the last (RFC 9112 section 9.6)


# The events counted when a timeout aborts a connection. In the other states the response has been sent.
TIMEOUT_EVENTS: Final = {
    State.HEAD: Event.HEAD_TIMEOUT,
    State.WRITING: Event.WRITE_TIMEOUT,
    State.IDLE: Event.IDLE_TIMEOUT,
}


def timeouts(limits: Limits) -> dict[State, float]:
    """Return the timeout of each state in seconds; the application has none."""
    return {
        State.HEAD: limits.head_seconds,
        State.ANSWERING: float("inf"),
        State.WRITING: limits.write_seconds,
        State.BODY: limits.discard_seconds,
        State.IDLE: limits.idle_seconds,
        State.CLOSING: limits.discard_seconds,
    }


def unsent_bytes(transport: asyncio.Transport) -> int:
    """Return the unsent bytes in the process and the unacknowledged ones in the system (tcp(7), SIOCOUTQ)."""
    file = transport.get_extra_info("socket").fileno()
    queued: int = unpack("i", ioctl(file, TIOCOUTQ, bytes(4)))[0] if file >= 0 else 0
    return transport.get_write_buffer_size() + queued


class Timed(Protocol):
    """A connection with a timeout."""

    def check_timeout(self, now: float) -> None:
        """Abort the connection if its timeout has passed; `now` is the loop's time."""


class TimeoutSweep:
    """Checks the timeouts of all connections once per interval, in batches, while there are connections.

    A timer for each request would be a cost of each request; a sweep is not.
    """

    def __init__(self, connections: Collection[Timed], seconds: float) -> None:
        self._connections, self._seconds = connections, seconds
        self._loop = asyncio.get_running_loop()
        self._round: list[Timed] = []
        self._pause = seconds
        self._running = False

    def start(self) -> None:
        """Start checking, until there are no connections."""
        if not self._running:
            self._running = True
            self._loop.call_later(self._seconds, self._check)

    def _check(self) -> None:
        if not self._round:
            self._round = list(self._connections)
            self._pause = self._seconds / max(1, ceil(len(self._round) / _BATCH))
        now = self._loop.time()
        for connection in self._round[-_BATCH:]:
            connection.check_timeout(now)
        del self._round[-_BATCH:]
        self._running = bool(self._connections)
        if self._running:
            self._loop.call_later(self._pause, self._check)
        else:
            self._round.clear()

"""Limits of the listeners: sizes, timeouts, numbers of connections, turns, and the memory that connections hold."""

import asyncio
import ctypes
from collections import deque
from collections.abc import Callable, Collection
from enum import Enum, auto
from fcntl import ioctl
from math import ceil
from struct import unpack
from termios import TIOCOUTQ
from typing import Final, Protocol

import msgspec

from service.settings import MAX_CONNECTIONS
from service.web.pipeline.app import App
from service.web.pipeline.counters import Event

MAX_FIELD_BYTES: Final = 8190
MAX_FIELDS: Final = 100
# Different from the limit for a header field: the parser's error identifies the exceeded limit only by its value.
MAX_LINE_BYTES: Final = 8192
# The host in a target, as a client of a proxy writes it. Host names are no longer (RFC 1035, section 3.1).
MAX_HOST_CHARACTERS: Final = 255
# The whole head of a request. Also the limit for reading ahead while an earlier request is answered.
MAX_HEAD_BYTES: Final = 32_768
# CR and LF before a request line. RFC 9112 section 2.2 has a server ignore at least one empty line.
MAX_LINE_END_BYTES: Final = 64
# No operation reads a body. One up to this size, framing included, is skipped, so that the connection can be reused.
MAX_BODY_BYTES: Final = 1 << 20
# Chunks and trailer fields of one body, and the bytes of their lines: each part costs steps in Python, however short,
# and a line costs more than data.
MAX_BODY_PARTS: Final = 32
MAX_BODY_LINE_BYTES: Final = 4096
# Read from a socket at a time. With MAX_HEAD_BYTES it bounds the unparsed bytes of a connection.
RECEIVE_BYTES: Final = 32_768
# Sent in one turn of a client that is not authenticated: a long response takes several.
TURN_BYTES: Final = 65_536
# Memory of what the connections of a listener hold: heads under way, requests that wait, responses that are not sent,
# streams. Without the system's socket buffers, and rows sent from the mapped file.
MAX_HELD_BYTES: Final = 1 << 28
# So little of requests that wait is not counted: most fit.
UNCOUNTED_BYTES: Final = 1024
# A client that has received nothing of its response for so long does not read, as far as memory is needed.
READING_SECONDS: Final = 2
# The admin listener has its own limits, so that it is reachable while the public one is full.
ADMIN_CONNECTIONS: Final = 100
MAX_ADMIN_HELD_BYTES: Final = 1 << 24


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The timeouts of one listener, and the limits of its connections.

    head_seconds     for the whole head of a request, from its first byte; for the first one from the connection's start
    idle_seconds     between a response and the next request
    write_seconds    without progress while a response is sent
    discard_seconds  for what the client still sends after a response: the rest of a body, or anything before a close
    check_seconds    interval between checks of the timeouts, by which each may be exceeded
    connections      open connections of one process; further ones get 503
    held_bytes       memory of what they hold; beyond it idle ones are dropped
    """

    head_seconds: float = 10
    idle_seconds: float = 30
    write_seconds: float = 15
    discard_seconds: float = 1
    check_seconds: float = 1
    connections: int = MAX_CONNECTIONS
    held_bytes: int = MAX_HELD_BYTES


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


THROTTLE_SECONDS: Final = 60


class LogThrottle:
    """Admits one message per interval, and counts the suppressed ones."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = float("-inf")
        self._suppressed = 0

    def admit(self, now: float) -> int | None:
        """Return the number of messages suppressed since the last admitted one, or None if this one is suppressed."""
        if now < self._next:
            self._suppressed += 1
            return None
        self._next = now + self._seconds
        suppressed, self._suppressed = self._suppressed, 0
        return suppressed


class Turns:
    """The turns of connections of a listener that wait for them, first come, first served.

    In each pass of the event loop one of them has its turn, and one more for each request of an authenticated client:
    of two requests one may be theirs.

    authenticated  requests of authenticated clients in this pass
    """

    def __init__(self, call_soon: Callable[[Callable[[], None]], object]) -> None:
        """Let connections have their turns in calls that the event loop makes soon."""
        self._call_soon = call_soon
        self._waiting: deque[Callable[[], object]] = deque()
        self._scheduled = self._postponed = False
        self.authenticated = 0

    def add(self, take_turn: Callable[[], object]) -> None:
        """Let a connection have a turn, in which it sends the next part of a response, or answers one request."""
        self._waiting.append(take_turn)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._call_soon(self._pass)

    def _pass(self) -> None:
        self._scheduled = False
        # The requests of authenticated clients in this pass come first, but not those of the next pass.
        self._postponed = self.authenticated > 0 and not self._postponed
        try:
            if not self._postponed:
                turns, self.authenticated = 1 + self.authenticated, 0
                for _ in range(min(turns, len(self._waiting))):
                    self._waiting.popleft()()
        finally:
            if self._waiting:
                self._schedule()


# Memory is released to the system once this part of the bound is free again.
_RELEASED_PART: Final = 8
# Wait this long first: the event loop frees the buffers of a closed connection only in its next iterations.
_RELEASE_SECONDS: Final = 1
# Connections that are looked at for an idle one, each time. Those behind them follow the next time.
_LOOKS: Final = 20


class Holder(Protocol):
    """A connection that holds memory: of received bytes, or of a response that is not sent."""

    def is_reading(self) -> bool:
        """Return whether its client receives a response."""

    def shed(self) -> None:
        """Abort the connection and release its memory."""


def release_free_memory(library: object = None) -> None:
    """Release unused memory to the system, if the C library can (malloc_trim(3)).

    Otherwise the memory of long responses stays with the process, fragmented by later allocations. `library` defaults
    to the process's own.
    """
    trim = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class MemoryBudget:
    """What the connections of a listener hold: heads under way, requests that wait, responses that are not sent.

    Beyond the bound the longest idle is dropped, but none whose client reads. So the application makes no long answer
    while the memory is used. A single connection may hold more.
    """

    def __init__(self, most: int, app: App, release: Callable[[], object] = release_free_memory) -> None:
        """Bound the sum to a number of bytes. Call `release`, in a thread, after much memory has become free."""
        self._most, self._app, self._release = most, app, release
        self._sizes: dict[Holder, int] = {}  # the longest idle first
        self.held = self._peak = 0  # bytes

    def hold(self, holder: Holder, size: int) -> None:
        """Count what a connection holds now in bytes, after it sent or received something."""
        self._count(holder, size)
        if self.held > self._most and size:
            self._make_room(holder)
        self._app.memory_used = self.held / self._most if len(self._sizes) > 1 else 0
        self._peak = max(self._peak, self.held)
        if self._peak - self.held > self._most // _RELEASED_PART and self.held < self._peak // 2:
            self._peak = self.held
            loop = asyncio.get_running_loop()
            loop.call_later(_RELEASE_SECONDS, loop.run_in_executor, None, self._release)

    def _count(self, holder: Holder, size: int) -> None:
        self.held += size - self._sizes.pop(holder, 0)
        if size:
            self._sizes[holder] = size

    def _make_room(self, last: Holder) -> None:
        """Drop idle connections, the one that has just been counted last of all."""
        for holder in [holder for holder, _ in zip(self._sizes, range(_LOOKS), strict=False)]:
            if holder.is_reading():
                self._count(holder, self._sizes[holder])  # no longer the longest idle
            else:
                holder.shed()
            if self.held <= self._most:
                return
        if last in self._sizes and len(self._sizes) > 1 and not last.is_reading():
            last.shed()

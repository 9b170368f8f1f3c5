"""A connection without a socket: a transport with a scripted client, and a clock that the test moves."""

import asyncio
import re
import socket
import struct
from functools import partial
from types import SimpleNamespace
from typing import Any

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.connection import Connection
from service.web.connections.limits import RECEIVE_BYTES, Limits, LogThrottle, MemoryBudget, Turns, timeouts
from service.web.endpoints.probes import probe_routes
from service.web.http.request import Request
from service.web.http.response import Response
from service.web.pipeline.answers import Deferred
from service.web.pipeline.app import App
from service.web.pipeline.auth import no_authentication
from service.web.pipeline.counters import UNMATCHED, Counters, Event
from service.web.pipeline.observer import Observer
from tests.web.live import DEFAULTS

LIMITS = Limits()
GET = b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n"
# Turns of the loop after which it is idle, and after which a client looks whether it is.
_TURNS = 20
_LOOK_TURNS = 5
_VARYING = re.compile(rb"(?<=\r\n)(?:X-Request-Id|Date): [^\r]*\r\n")
_PEER = ("192.0.2.1", 5)
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class GatedApp(App):
    """An application that answers /health once its gate is open."""

    def __init__(self) -> None:
        snapshots = SnapshotHolder()
        observer = Observer(Counters(["/health", "/ready", UNMATCHED], snapshots.slot))
        super().__init__(probe_routes(snapshots), snapshots, no_authentication, observer, DEFAULTS)
        self.gate = asyncio.Event()
        self.gate.set()
        self.called = asyncio.Event()

    def __call__(self, request: Request) -> Response | Deferred[Response]:
        self.called.set()
        return self.respond(request) if self.gate.is_set() else partial(self._wait, request)

    def respond(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request behind the gate."""
        return super().__call__(request)

    async def _wait(self, request: Request) -> Response:
        await self.gate.wait()
        response = self.respond(request)
        return response if isinstance(response, Response) else await response()


class Wire(asyncio.Transport):
    """The transport of one connection, its client, and the listener behind it.

    room    bytes that the system accepts before the client reads more
    unread  bytes sent while reading was paused
    resets  whether the connection is reset when the server closes it
    """

    def __init__(
        self, app: App | None = None, limits: Limits = LIMITS, *, room: float = float("inf"), peer: object = _PEER
    ) -> None:
        system = SimpleNamespace(fileno=lambda: -1, setsockopt=self._set_option)
        super().__init__({"peername": peer, "socket": system})
        self.resets = False
        self.app = app or GatedApp()
        self.clock = 100.0
        loop = asyncio.get_running_loop()
        self.loop: Any = SimpleNamespace(
            time=lambda: self.clock, create_task=loop.create_task, call_soon=loop.call_soon
        )
        self.turns, self.streams = Turns(loop.call_soon), Turns(loop.call_soon)
        self.timeouts = timeouts(limits)
        self.malformed, self.memory = LogThrottle(60), MemoryBudget(limits.held_bytes, self.app)
        self.room, self.received, self.unread = room, bytearray(), bytearray()
        self._buffer = bytearray()
        self._closing = self._reading_paused = self._writing_paused = self.ended = self.lost = False
        self.connection = Connection(self)
        self.connection.connection_made(self)

    # The client.

    async def send(self, *parts: bytes) -> None:
        """Send parts as separate packets; let the server work after each."""
        for part in parts:
            self.put(part)
            await self._settle()

    def put(self, part: bytes) -> None:
        """Send a packet; the server receives it, and works when the loop turns."""
        self.unread += part
        self.deliver()

    async def _settle(self) -> None:
        """Let the loop turn until nothing more is read or sent."""
        before: object = None
        while before != (now := (len(self.unread), len(self.received), self.connection.state, self.lost)):
            before = now
            await settle(_LOOK_TURNS)

    async def finish(self) -> None:
        """Let the server work until it has answered everything that arrived."""
        before = -1
        while len(self.received) > before:
            before = len(self.received)
            await settle()

    async def half_close(self) -> None:
        """Close the client's side."""
        if not self._closing and not self.connection.eof_received():
            self.close()
        await settle()

    def drop(self, error: OSError) -> None:
        """Let the system end the connection with an error."""
        self._end(error)

    async def take(self, count: float = float("inf")) -> None:
        """Read more of what the server sends."""
        self.room += count
        self._flush()
        await settle()

    async def wait(self, seconds: float) -> None:
        """Let time pass, then check timeouts."""
        self.clock += seconds
        if not self.lost:
            self.connection.check_timeout(self.clock)
        await settle()

    @property
    def gate(self) -> asyncio.Event:
        """The gate of the application, if that is a `GatedApp`."""
        assert isinstance(self.app, GatedApp)
        return self.app.gate

    @property
    def statuses(self) -> list[int]:
        """The statuses of the responses received, at least in part."""
        return [int(status) for status in _STATUS.findall(self.received)]

    @property
    def answers(self) -> bytes:
        """The received bytes without the fields that differ between equal responses."""
        return _VARYING.sub(b"", bytes(self.received))

    def counted(self, event: Event) -> int:
        """Return how often an event was counted."""
        families = {family.name: family for family in self.app.traffic.collect()}
        samples = families[f"store_directory_{event.counter}"].samples
        return next(int(each.value) for each in samples if each.labels.get("result", "") == event.result)

    # The listener.

    def connected(self, connection: Connection) -> None:
        """Add a connection."""

    def disconnected(self, connection: Connection) -> None:  # noqa: ARG002 - there is only one
        """Remove it."""
        self.lost = True

    # The transport.

    def writelines(self, list_of_data: Any) -> None:
        assert not self.ended, "a response is written after the end"
        self.write(b"".join(list_of_data))

    def write(self, data: Any) -> None:
        self._buffer += data
        self._flush()
        if self._buffer and not self._writing_paused:
            self._writing_paused = True
            self.connection.pause_writing()

    def write_eof(self) -> None:
        assert not self._buffer
        self.ended = True

    def close(self) -> None:
        if not self._closing:
            assert not self._buffer, "closing with an unsent response waits for the client without a limit"
            self.abort()

    def abort(self) -> None:
        self._end(None)

    def _end(self, error: OSError | None) -> None:
        if not self._closing:
            self._closing = self.ended = True
            self._buffer.clear()
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, error)

    def _set_option(self, level: int, name: int, value: bytes) -> None:
        self.resets = (level, name, value) == (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        assert not self._reading_paused
        self._reading_paused = True

    def resume_reading(self) -> None:
        assert self._reading_paused
        self._reading_paused = False
        asyncio.get_running_loop().call_soon(self.deliver)

    def get_write_buffer_size(self) -> int:
        return len(self._buffer)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert (high, low) == (0, None)

    def _flush(self) -> None:
        count = int(min(self.room, len(self._buffer)))
        self.room -= count
        self.received += self._buffer[:count]
        del self._buffer[:count]
        if self._writing_paused and not self._buffer:
            self._writing_paused = False
            self.connection.resume_writing()

    def deliver(self) -> None:
        """Deliver the client's bytes, as far as the server reads."""
        while self.unread and not self._reading_paused and not self._closing:
            part = bytes(self.unread[:RECEIVE_BYTES])
            del self.unread[: len(part)]
            self.connection.get_buffer(-1)[: len(part)] = part
            self.connection.buffer_updated(len(part))


async def settle(turns: int = _TURNS) -> None:
    """Run the loop until it is idle."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def exchange(*parts: bytes, ends: bool = True) -> Wire:
    """Send parts on a new connection, and return it."""
    wire = Wire()
    await wire.send(*parts)
    if ends:
        await wire.half_close()
    return wire

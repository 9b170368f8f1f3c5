"""A connection without a socket: a transport whose client takes what it is told to, a clock that stands still."""

import asyncio
import re
from types import SimpleNamespace
from typing import Any

from service.replica.replica import Replica
from service.web.app import App
from service.web.auth import anybody
from service.web.connections.connection import Connection
from service.web.connections.limits import RECEIVE_BYTES, Limits
from service.web.connections.log_throttling import LogThrottle
from service.web.connections.request import Request
from service.web.connections.timeouts import timeouts
from service.web.connections.turns import Turns
from service.web.connections.unsent import UnsentResponses
from service.web.event import Event
from service.web.observer import Observer
from service.web.probes import probe_routes
from service.web.response import Response
from service.web.traffic import UNMATCHED, Traffic
from tests.web.live import POLICY

LIMITS = Limits()
GET = b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n"
_VARYING = re.compile(rb"(?<=\r\n)(?:X-Request-Id|Date): [^\r]*\r\n")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class GatedApp(App):
    """An application that answers /health, once its gate is open."""

    def __init__(self) -> None:
        replica = Replica()
        observer = Observer(Traffic(["/health", "/ready", UNMATCHED], replica.seat))
        super().__init__(probe_routes(replica), replica, anybody, observer, POLICY)
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, request: Request) -> Response:
        await self.gate.wait()
        return await super().__call__(request)


class Wire(asyncio.Transport):
    """The transport of one connection, its client, and the listener behind it.

    room    how many bytes the system takes for the client before it reads
    unread  what was sent while reading was paused
    """

    def __init__(self, app: App | None = None, limits: Limits = LIMITS, *, room: float = float("inf")) -> None:
        super().__init__({"peername": ("192.0.2.1", 5), "socket": SimpleNamespace(fileno=lambda: -1)})
        self.app = app or GatedApp()
        self.clock = 100.0
        loop = asyncio.get_running_loop()
        self.loop: Any = SimpleNamespace(time=lambda: self.clock, create_task=loop.create_task)
        self.turns = Turns(loop.call_soon)
        self.timeouts = timeouts(limits)
        self.malformed, self.unsent = LogThrottle(60), UnsentResponses()
        self.room, self.received, self.unread = room, bytearray(), bytearray()
        self._buffer = bytearray()
        self._closing = self._reading_paused = self._writing_paused = self.ended = self.lost = False
        self.connection = Connection(self)
        self.connection.connection_made(self)

    # What the client does.

    async def send(self, *parts: bytes) -> None:
        """Send parts, each of which arrives by itself; let the server work between them."""
        for part in parts:
            self.unread += part
            self.deliver()
            await self._settle()

    async def _settle(self) -> None:
        """Let the loop turn until nothing more is read or sent."""
        before: object = None
        while before != (now := (len(self.unread), len(self.received), self.connection.state, self.lost)):
            before = now
            await settle()

    async def half_close(self) -> None:
        """Say that nothing more will be sent."""
        if not self._closing and not self.connection.eof_received():
            self.close()
        await settle()

    async def take(self, count: float = float("inf")) -> None:
        """Read more of what the server sends."""
        self.room += count
        self._flush()
        await settle()

    async def wait(self, seconds: float) -> None:
        """Let time go by, and timeouts be checked after it."""
        self.clock += seconds
        if not self.lost:
            self.connection.check_timeout(self.clock)
        await settle()

    @property
    def statuses(self) -> list[int]:
        """The statuses of the responses that arrived, in part at least."""
        return [int(status) for status in _STATUS.findall(self.received)]

    @property
    def answers(self) -> bytes:
        """What arrived, but for what differs from one request to the next."""
        return _VARYING.sub(b"", bytes(self.received))

    def counted(self, event: Event) -> int:
        """Return how often an event was counted."""
        families = {family.name: family for family in self.app.traffic.collect()}
        samples = families[f"store_directory_{event.counter}"].samples
        return next(int(each.value) for each in samples if each.labels.get("result", "") == event.result)

    # What a listener does.

    def connected(self, connection: Connection) -> None:
        """Take a connection."""

    def disconnected(self, connection: Connection) -> None:  # noqa: ARG002 - there is but one
        """Drop it."""
        self.lost = True

    # What a transport does.

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
            assert not self._buffer, "what is closed with an unsent response keeps it for as long as the client likes"
            self.abort()

    def abort(self) -> None:
        if not self._closing:
            self._closing = self.ended = True
            self._buffer.clear()
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)

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
        """Let what the client sent arrive, as far as the server reads."""
        while self.unread and not self._reading_paused and not self._closing:
            part = bytes(self.unread[:RECEIVE_BYTES])
            del self.unread[: len(part)]
            self.connection.get_buffer(-1)[: len(part)] = part
            self.connection.buffer_updated(len(part))


async def settle() -> None:
    """Let the loop turn until nothing is left to do."""
    for _ in range(20):
        await asyncio.sleep(0)


async def exchange(*parts: bytes, ends: bool = True) -> Wire:
    """Send parts on a connection of their own; return it."""
    wire = Wire()
    await wire.send(*parts)
    if ends:
        await wire.half_close()
    return wire

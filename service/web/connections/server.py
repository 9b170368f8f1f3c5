"""The server of one listener: accepts connections up to a limit, checks their timeouts, and shuts them down."""

import asyncio
import logging
import socket
import sys
from contextlib import suppress
from typing import Final, cast

from aiohttp import HttpVersion11, web

from service.model.errors import ServiceUnavailable
from service.web.connections.connection import Connection
from service.web.connections.limits import (
    THROTTLE_SECONDS,
    Limits,
    LogThrottle,
    MemoryBudget,
    TimeoutSweep,
    Turns,
    timeouts,
)
from service.web.http.response import Response, error_answer
from service.web.pipeline.app import App
from service.web.pipeline.counters import Event

_ANSWER: Final = error_answer(ServiceUnavailable(), ())
_log = logging.getLogger(__name__)


class ShedConnection(asyncio.Protocol):
    """The protocol of all connections over the limit: responds without reading the request, then closes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._throttle = LogThrottle(THROTTLE_SECONDS)

    def log(self, now: float) -> None:
        """Log that connections are refused, at most once a minute; `now` is the loop's time."""
        if self._throttle.admit(now) is not None:
            _log.warning("connection limit reached (%s): refusing new connections", f"{self._limit:,}")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Respond and close."""
        writable = cast("asyncio.Transport", transport)
        writable.writelines(Response(_ANSWER).encode("", HttpVersion11, keep_alive=False))
        writable.close()


class Server:
    """The protocol factory of a listener, and the state that its connections share; a server for aiohttp's runner."""

    def __init__(self, app: App, limits: Limits) -> None:
        self.app = app
        self.timeouts = timeouts(limits)
        self.malformed = LogThrottle(THROTTLE_SECONDS)
        self.memory = MemoryBudget(limits.held_bytes, app)
        self.loop = asyncio.get_running_loop()
        self.turns, self.streams = Turns(self.loop.call_soon), Turns(self.loop.call_soon)
        self._limit = limits.connections
        self._overload = ShedConnection(limits.connections)
        self._open = 0
        self._connections: set[Connection] = set()
        self._sweep = TimeoutSweep(self._connections, limits.check_seconds)
        self._emptied = asyncio.Event()

    def __call__(self) -> asyncio.BaseProtocol:
        """Return the protocol of a new connection."""
        traffic = self.app.traffic
        if self._open >= self._limit:
            traffic.count(Event.REFUSED)
            self._overload.log(self.loop.time())
            return self._overload
        self._open += 1  # not in `connected`: many may be accepted before the first one is connected
        traffic.count(Event.ACCEPTED)
        traffic.slot.count_connection(1)
        return Connection(self)

    def connected(self, connection: Connection) -> None:
        """Add an open connection."""
        self._connections.add(connection)
        self._sweep.start()

    def disconnected(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._connections.discard(connection)
        self._open -= 1
        self.app.traffic.slot.count_connection(-1)
        if not self._connections:
            self._emptied.set()

    def pre_shutdown(self) -> None:
        """Close idle connections, and the others after their current responses."""
        for connection in tuple(self._connections):
            connection.drain()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's runner gives it
        """Wait until all connections are closed; abort those that are still open after the timeout."""
        self._emptied.clear()
        if self._connections:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), timeout)
        tasks = [task for connection in tuple(self._connections) if (task := connection.abort()) is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


def runner(app: App, limits: Limits | None = None, *, shutdown_seconds: float = 5) -> web.ServerRunner:
    """Return aiohttp's runner for an application. On shutdown, current responses have `shutdown_seconds` to be sent."""
    server = Server(app, limits or Limits())
    # aiohttp's runner and sites use three methods of a server: `__call__`, `pre_shutdown` and `shutdown`.
    return web.ServerRunner(cast("web.Server", server), shutdown_timeout=shutdown_seconds)


def limit_unacknowledged(listening: socket.socket, seconds: float) -> None:
    """Let the system drop connections whose client acknowledges nothing for so long (TCP_USER_TIMEOUT, tcp(7)).

    Otherwise the system would keep sending buffered data after the server has closed the connection.
    """
    if sys.platform == "linux" and listening.family != socket.AF_UNIX:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))

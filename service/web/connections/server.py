"""The server of one listener: accepts connections up to a limit, checks their timeouts, and shuts them down."""

import asyncio
import socket
import sys
from contextlib import suppress
from typing import cast

from aiohttp import web

from service.web.app import App
from service.web.connections.connection import Connection
from service.web.connections.limits import Limits
from service.web.connections.load_shedding import Overload
from service.web.connections.log_throttling import THROTTLE_SECONDS, LogThrottle
from service.web.connections.timeouts import TimeoutSweep, timeouts
from service.web.connections.turns import Turns
from service.web.connections.unsent import UnsentResponses
from service.web.event import Event


class Server:
    """The factory of a listener's protocols, and what they share; for aiohttp's runner, a server."""

    def __init__(self, app: App, limits: Limits) -> None:
        self.app = app
        self.timeouts = timeouts(limits)
        self.malformed = LogThrottle(THROTTLE_SECONDS)
        self.unsent = UnsentResponses()
        self.loop = asyncio.get_running_loop()
        self.turns = Turns(self.loop.call_soon)
        self._limit = limits.connections
        self._overload = Overload(limits.connections)
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
        self._open += 1  # here, as many may be accepted before the first of them is made
        traffic.count(Event.ACCEPTED)
        traffic.opened()
        return Connection(self)

    def connected(self, connection: Connection) -> None:
        """Take a connection that is open from now on."""
        self._connections.add(connection)
        self._sweep.start()

    def disconnected(self, connection: Connection) -> None:
        """Drop a connection that is closed."""
        self._connections.discard(connection)
        self._open -= 1
        self.app.traffic.closed()
        if not self._connections:
            self._emptied.set()

    def pre_shutdown(self) -> None:
        """Close idle connections, and the others after the responses that are under way."""
        for connection in tuple(self._connections):
            connection.finish()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's runner gives it
        """Wait until all connections are closed; end those that still are not after the timeout."""
        self._emptied.clear()
        if self._connections:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), timeout)
        tasks = [task for connection in tuple(self._connections) if (task := connection.abort()) is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


def runner(app: App, limits: Limits | None = None, *, shutdown_seconds: float = 5) -> web.ServerRunner:
    """Return aiohttp's runner of the service; `shutdown_seconds` is what responses under way get to be sent."""
    server = Server(app, limits or Limits())
    # Of aiohttp's own server its runner and sites use three methods: to be called, `pre_shutdown` and `shutdown`.
    return web.ServerRunner(cast("web.Server", server), shutdown_timeout=shutdown_seconds)


def limit_unacknowledged(listening: socket.socket, seconds: float) -> None:
    """Let the system drop a connection whose client acknowledges nothing for so long (TCP_USER_TIMEOUT, tcp(7)).

    It goes on sending what it has after the connection is closed on our side.
    """
    if sys.platform == "linux" and listening.family != socket.AF_UNIX:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))

"""The listening side of HTTP: who is let in, for how long, and as what a request is taken."""

import asyncio
import socket
import sys
from math import ceil
from typing import Final

from aiohttp import EMPTY_PAYLOAD, HttpVersion10, HttpVersion11, StreamReader, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from yarl import URL

from service.web.app import App, Unacceptable
from service.web.connection import Connection
from service.web.crowd import Crowd
from service.web.event import Event
from service.web.limits import Limits
from service.web.seldom import QUIET_SECONDS, Seldom

# What aiohttp puts in the place of a request that it could not parse.
_UNPARSED: Final = "UNKNOWN"
# So many connections are looked at together, which takes 0.1 ms: thousands would hold up requests for 10 or more.
_AT_ONCE: Final = 20
_VERSIONS: Final = (HttpVersion11, HttpVersion10)


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop = task.get_loop()
    if payload is not EMPTY_PAYLOAD and isinstance(protocol, Connection):
        protocol.begin_body(payload)
        if hdrs.EXPECT in message.headers:  # it is answered without its body, which may then come or not
            message = message._replace(should_close=True)
    if message.upgrade:  # declined; of what came at once behind it the parser may lose the begin
        message = message._replace(should_close=True)
    if isinstance(protocol, Connection) and protocol.held:
        protocol.go_on()
    if message.version is not HttpVersion11:  # as nearly all are; what could not be parsed has the other
        if message.method == _UNPARSED:
            message = message._replace(version=HttpVersion11)
        elif message.version not in _VERSIONS:
            # aiohttp answers in the version of the request; RFC 9110 section 2.5 asks for the highest that is ours.
            return Unacceptable(message._replace(version=HttpVersion11), payload, protocol, writer, task, loop)
    try:
        return web.BaseRequest(message, payload, protocol, writer, task, loop)
    except ValueError:  # of a host that is none, such as xn--, which is looked at here first
        return Unacceptable(message._replace(path="/", url=URL("/")), payload, protocol, writer, task, loop)


class Server(web.Server):
    """An aiohttp server with our limits. Nothing is decompressed: nobody reads the bodies."""

    def __init__(self, app: App, limits: Limits) -> None:
        super().__init__(app, request_factory=_request)
        self._app, self._limits = app, limits
        self._crowd = Crowd(limits.connections)
        self._seldom = Seldom(QUIET_SECONDS)
        self._open = 0
        self._looks = False
        self._to_look_at: list[web.RequestHandler] = []
        self._pause = limits.look_seconds

    def __call__(self) -> asyncio.Protocol:  # type: ignore[override] # one that is refused is no RequestHandler
        """Return the protocol of a new connection."""
        traffic = self._app.traffic
        if self._open >= self._limits.connections:
            traffic.count(Event.REFUSED)
            return self._crowd.turn_away(self._loop.time())
        self._open += 1  # here, as many may come before the first of them is made
        traffic.count(Event.ACCEPTED)
        traffic.opened()
        if not self._looks:
            self._looks = True
            self._loop.call_later(self._limits.look_seconds, self._look)
        return Connection(self, self._app, self._limits, self._seldom, loop=self._loop, access_log=None)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Let go of a connection."""
        super().connection_lost(handler, exc)
        self._open -= 1
        self._app.traffic.closed()

    def _look(self) -> None:
        """Look at the next connections, and come back soon. There are no looks while there is no connection."""
        if not self._to_look_at:
            self._to_look_at = list(self._connections)
            self._pause = self._limits.look_seconds / max(1, ceil(len(self._to_look_at) / _AT_ONCE))
        now = self._loop.time()
        for connection in self._to_look_at[-_AT_ONCE:]:
            self._look_at(connection, now)
        del self._to_look_at[-_AT_ONCE:]
        self._looks = self._open > 0
        if self._looks:
            self._loop.call_later(self._pause, self._look)
        else:
            self._to_look_at.clear()

    def _look_at(self, connection: web.RequestHandler, now: float) -> None:
        """End the connection of a client that takes too long."""
        transport = self._connections.get(connection)  # which may have ended since the round began
        if transport is not None and isinstance(connection, Connection):
            if connection.is_left_alone():
                transport.abort()
                return
            event = connection.awaits_too_long(now, transport)
            if event is not None:
                self._app.traffic.count(event)
                transport.abort()  # to close would be to wait for the client again


def give_up(listening: socket.socket, seconds: float) -> None:
    """Let the system forget what a client does not take, after so long, of the connections of a socket (tcp(7)).

    It goes on sending what it has when the connection is closed on our side.
    """
    if sys.platform == "linux" and listening.family != socket.AF_UNIX:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


def runner(app: App, limits: Limits | None = None, *, shutdown_seconds: float = 5) -> web.ServerRunner:
    """Return aiohttp's runner of the service; `shutdown_seconds` is what open requests get to end."""
    return web.ServerRunner(Server(app, limits or Limits()), shutdown_timeout=shutdown_seconds)

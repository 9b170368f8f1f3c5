"""One connection of the service over the loopback interface, with a client in the same thread."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, cast

import uvloop

from service.web.connections.connection import Connection
from service.web.connections.limits import Limits
from service.web.connections.server import Server
from service.web.pipeline.app import App

_HOUR: Final = 3600.0
_LIMITS: Final = Limits(head_seconds=_HOUR, idle_seconds=_HOUR, write_seconds=_HOUR)
_CLIENT_BYTES: Final = 1 << 20


class Loopback:
    """A connection; the event loop runs only in `settle`, so that everything else is a plain call."""

    def __init__(
        self, app: App, loop: asyncio.AbstractEventLoop, accepted: socket.socket, client: socket.socket
    ) -> None:
        self._loop, self._client = loop, client
        self._received = bytearray(_CLIENT_BYTES)
        transport, self._connection = loop.run_until_complete(_connect(app, accepted))
        self.transport = cast("asyncio.Transport", transport)

    def receive(self, head: bytes) -> None:
        """Pass a request to the connection as the event loop does."""
        self._connection.get_buffer(-1)[: len(head)] = head
        self._connection.buffer_updated(len(head))

    def settle(self) -> None:
        """Let the event loop run, and the client read, until everything is sent."""
        self._loop.run_until_complete(asyncio.sleep(0))
        self._read()
        while self.transport.get_write_buffer_size():
            self._loop.run_until_complete(asyncio.sleep(0))
            self._read()

    def close(self) -> None:
        """Close the connection."""
        self.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while self._client.recv_into(self._received):
                pass


async def _connect(app: App, accepted: socket.socket) -> tuple[asyncio.BaseTransport, Connection]:
    connection = cast("Connection", Server(app, _LIMITS)())
    transport, _ = await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted)
    return transport, connection


@contextmanager
def loopback(app: App) -> Iterator[Loopback]:
    """Yield a connection of an application."""
    loop = uvloop.new_event_loop()
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as client,
    ):
        client.setblocking(False)
        made = Loopback(app, loop, listening.accept()[0], client)
        try:
            yield made
        finally:
            made.close()
            loop.close()

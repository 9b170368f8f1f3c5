"""Clients of each kind: with a persistent connection, with a connection per request, and one that reads slowly."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from threading import Event, Thread
from typing import Final

from bench.soak.expectations import Checker, Request
from bench.wire.shapes import KEY

_SECONDS: Final = 60
_LONG: Final = Request("/stores?limit=1000")
_PIECE: Final = 16 << 10
_PIECE_SECONDS: Final = 0.02
_ERROR_SECONDS: Final = 0.01


class Client(Thread):
    """Sends one request after the other, each client from another position in the list, unless paused."""

    def __init__(self, port: int, requests: Sequence[Request], checker: Checker, *, first: int, running: Event) -> None:
        super().__init__(daemon=True)
        self.port, self.checker = port, checker
        self._requests = cycle([*requests[first:], *requests[:first]])
        self._running, self._stopped = running, Event()
        self.paused = Event()

    def run(self) -> None:
        """Send requests until stopped; count errors and continue."""
        while not self._stopped.is_set():
            if not self._running.is_set():
                self.paused.set()
                self._running.wait()
                self.paused.clear()
                self.close()  # the service may close the idle connection
            request = next(self._requests)
            try:
                self.send(request)
            except (OSError, HTTPException) as error:
                self.checker.fail(f"{request.method} {request.target}: {error!r}")
                self.close()
                time.sleep(_ERROR_SECONDS)

    def stop(self) -> None:
        """Stop after the response in progress."""
        self._stopped.set()
        self.join(_SECONDS)

    def close(self) -> None:
        """Close the connection, if it is kept between requests."""

    def send(self, request: Request) -> None:
        """Send a request, and check the response."""
        raise NotImplementedError


class Persistent(Client):
    """Reuses its connection, and sends the entity tags of earlier responses."""

    _connection: HTTPConnection | None = None
    _tags: dict[str, str] | None = None

    def close(self) -> None:
        """Reconnect for the next request."""
        if self._connection is not None:
            self._connection.close()

    def send(self, request: Request) -> None:
        """Send the request on the one connection."""
        self._connection = self._connection or HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        self._tags = {} if self._tags is None else self._tags
        tag = self._tags.get(request.target) if request.conditional else None
        _exchange(self._connection, request, self.checker, {"If-None-Match": tag} if tag else {}, self._tags)


class Reconnecting(Client):
    """Opens a connection per request."""

    def send(self, request: Request) -> None:
        """Send the request on a new connection."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            _exchange(connection, request, self.checker, {}, {})
        finally:
            connection.close()


def _exchange(
    connection: HTTPConnection, request: Request, checker: Checker, condition: dict[str, str], tags: dict[str, str]
) -> None:
    connection.request(request.method, request.target, headers={**request.fields, **condition})
    response = connection.getresponse()
    body = response.read()
    if request.conditional:
        tags[request.target] = response.headers.get("ETag", "")
    checker.check(request, response.status, dict(response.headers), body)


class SlowReader(Client):
    """Requests a long response over a small receive buffer, and reads it in pieces with pauses."""

    def send(self, request: Request) -> None:  # noqa: ARG002 - it always sends the same request
        """Request the long response."""
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
            client.settimeout(_SECONDS)
            client.connect(("127.0.0.1", self.port))
            client.sendall(f"GET {_LONG.target} HTTP/1.0\r\nHost: bench\r\nx-api-key: {KEY}\r\n\r\n".encode())
            received = b"".join(_slowly(client))
        head, _, body = received.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        if int(fields.get("Content-Length", -1)) != len(body):
            raise HTTPException(f"{len(body)} bytes of {fields.get('Content-Length')}")
        self.checker.check(_LONG, int(start.split(" ")[1]), fields, body)


def _slowly(client: socket.socket) -> Iterator[bytes]:
    while piece := client.recv(_PIECE):
        yield piece
        time.sleep(_PIECE_SECONDS)


@contextmanager
def all_paused(clients: Sequence[Client], running: Event) -> Iterator[None]:
    """Pause all clients, each after a response."""
    running.clear()
    for client in clients:
        client.paused.wait(_SECONDS)
    try:
        yield
    finally:
        running.set()

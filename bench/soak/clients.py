"""Clients of each kind: with a persistent connection, with a connection per request, and one that reads slowly."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from threading import Event, Thread
from typing import Final

from bench.soak.requests import Ledger, Request
from bench.wire.shapes import KEY

_SECONDS: Final = 60
_SLOW: Final = Request("/stores?limit=1000")
_PIECE: Final = 16 << 10
_PIECE_SECONDS: Final = 0.02
_STEP_SECONDS: Final = 0.01


class Client(Thread):
    """Sends one request after the other, each client from another place in the list, while the gate is open."""

    def __init__(self, port: int, requests: Sequence[Request], ledger: Ledger, *, place: int, gate: Event) -> None:
        super().__init__(daemon=True)
        self.port, self.ledger = port, ledger
        self._requests = cycle([*requests[place:], *requests[:place]])
        self._gate, self._over = gate, Event()
        self.resting = Event()

    def run(self) -> None:
        """Send requests until stopped; count errors in the ledger and continue."""
        while not self._over.is_set():
            if not self._gate.is_set():
                self.resting.set()
                self._gate.wait()
                self.resting.clear()
                self.rested()
            request = next(self._requests)
            try:
                self.send(request)
            except (OSError, HTTPException) as error:
                self.ledger.fail(f"{request.method} {request.target}: {error!r}")
                time.sleep(_STEP_SECONDS)

    def rested(self) -> None:
        """Prepare to continue after a pause."""

    def end(self) -> None:
        """Stop after the response in progress."""
        self._over.set()
        self.join(_SECONDS)

    def send(self, request: Request) -> None:
        """Send a request, and record the response in the ledger."""
        raise NotImplementedError


class Persistent(Client):
    """Reuses its connection, and sends the entity tags of earlier responses."""

    _connection: HTTPConnection | None = None
    _tags: dict[str, str] | None = None

    def rested(self) -> None:
        """Reconnect for the next request: the service may have closed the idle connection."""
        if self._connection is not None:
            self._connection.close()

    def send(self, request: Request) -> None:
        """Send the request on the one connection."""
        self._connection = self._connection or HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        self._tags = {} if self._tags is None else self._tags
        tag = self._tags.get(request.target) if request.conditional else None
        try:
            self._connection.request(request.method, request.target, headers={**request.fields, **_if_none(tag)})
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            raise
        if request.conditional:
            self._tags[request.target] = answer.headers.get("ETag", "")
        self.ledger.record(request, answer.status, dict(answer.headers), body)


class Reconnecting(Client):
    """Opens a connection per request."""

    def send(self, request: Request) -> None:
        """Send the request on a new connection."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            connection.request(request.method, request.target, headers=dict(request.fields))
            answer = connection.getresponse()
            self.ledger.record(request, answer.status, dict(answer.headers), answer.read())
        finally:
            connection.close()


class SlowReader(Client):
    """Requests a long response over a small receive buffer, and reads it in pieces with pauses."""

    def send(self, request: Request) -> None:  # noqa: ARG002 - it always sends the same request
        """Request the long response."""
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
            client.settimeout(_SECONDS)
            client.connect(("127.0.0.1", self.port))
            client.sendall(f"GET {_SLOW.target} HTTP/1.0\r\nHost: bench\r\nx-api-key: {KEY}\r\n\r\n".encode())
            received = b"".join(_slowly(client))
        head, _, body = received.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        if int(fields.get("Content-Length", -1)) != len(body):
            raise HTTPException(f"{len(body)} bytes of {fields.get('Content-Length')}")
        self.ledger.record(_SLOW, int(start.split(" ")[1]), fields, body)


def _slowly(client: socket.socket) -> Iterator[bytes]:
    while piece := client.recv(_PIECE):
        yield piece
        time.sleep(_PIECE_SECONDS)


def _if_none(tag: str | None) -> dict[str, str]:
    return {"If-None-Match": tag} if tag else {}


@contextmanager
def at_rest(clients: Sequence[Client], gate: Event) -> Iterator[None]:
    """Pause all clients, each after a response."""
    gate.clear()
    for client in clients:
        client.resting.wait(_SECONDS)
    try:
        yield
    finally:
        gate.set()

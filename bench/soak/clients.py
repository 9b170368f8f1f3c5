"""Clients of each kind: that keep their connection, that open one each time, and that read slowly."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from threading import Event, Thread
from typing import Final

from bench.soak.asks import Ask, Ledger
from bench.wire.shapes import KEY

_SECONDS: Final = 60
_SLOW: Final = Ask("/stores?limit=1000")
_PIECE: Final = 16 << 10
_PIECE_SECONDS: Final = 0.02
_STEP_SECONDS: Final = 0.01


class Client(Thread):
    """Asks one thing after the other, from another place in their round than its neighbours, while the gate is open."""

    def __init__(self, port: int, asks: Sequence[Ask], ledger: Ledger, *, place: int, gate: Event) -> None:
        super().__init__(daemon=True)
        self.port, self.ledger = port, ledger
        self._asks = cycle([*asks[place:], *asks[:place]])
        self._gate, self._over = gate, Event()
        self.resting = Event()

    def run(self) -> None:
        """Ask until told to end; what fails is told to the ledger, and the next thing is asked."""
        while not self._over.is_set():
            if not self._gate.is_set():
                self.resting.set()
                self._gate.wait()
                self.resting.clear()
                self.rested()
            ask = next(self._asks)
            try:
                self.ask(ask)
            except (OSError, HTTPException) as error:
                self.ledger.fail(f"{ask.method} {ask.target}: {error!r}")
                time.sleep(_STEP_SECONDS)

    def rested(self) -> None:
        """Begin anew after a rest."""

    def end(self) -> None:
        """End after the answer that is under way."""
        self._over.set()
        self.join(_SECONDS)

    def ask(self, ask: Ask) -> None:
        """Ask once, and tell the ledger what came."""
        raise NotImplementedError


class Keeper(Client):
    """Keeps its connection, and the tags of what it was answered."""

    _connection: HTTPConnection | None = None
    _tags: dict[str, str] | None = None

    def rested(self) -> None:
        """Open another connection with the next request: the service may have closed this one, idle as it was."""
        if self._connection is not None:
            self._connection.close()

    def ask(self, ask: Ask) -> None:
        """Ask on the one connection."""
        self._connection = self._connection or HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        self._tags = {} if self._tags is None else self._tags
        tag = self._tags.get(ask.target) if ask.conditional else None
        try:
            self._connection.request(ask.method, ask.target, headers={**ask.fields, **_if_none(tag)})
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            raise
        if ask.conditional:
            self._tags[ask.target] = answer.headers.get("ETag", "")
        self.ledger.told(ask, answer.status, dict(answer.headers), body)


class Fresh(Client):
    """Opens a connection for each request."""

    def ask(self, ask: Ask) -> None:
        """Ask on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            connection.request(ask.method, ask.target, headers=dict(ask.fields))
            answer = connection.getresponse()
            self.ledger.told(ask, answer.status, dict(answer.headers), answer.read())
        finally:
            connection.close()


class Slow(Client):
    """Asks for a long answer on a connection of little room, and reads it in pieces with pauses."""

    def ask(self, ask: Ask) -> None:  # noqa: ARG002 - it always asks for the same
        """Ask for a long answer."""
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
        self.ledger.told(_SLOW, int(start.split(" ")[1]), fields, body)


def _slowly(client: socket.socket) -> Iterator[bytes]:
    while piece := client.recv(_PIECE):
        yield piece
        time.sleep(_PIECE_SECONDS)


def _if_none(tag: str | None) -> dict[str, str]:
    return {"If-None-Match": tag} if tag else {}


@contextmanager
def at_rest(clients: Sequence[Client], gate: Event) -> Iterator[None]:
    """Let all clients rest, each behind an answer."""
    gate.clear()
    for client in clients:
        client.resting.wait(_SECONDS)
    try:
        yield
    finally:
        gate.set()

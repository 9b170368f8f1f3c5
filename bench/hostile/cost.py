"""The cost of requests without a key: the server's CPU time for each, compared with that of an ordinary 401."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil
from typing import Final

import msgspec

from bench.hostile.inputs import INPUTS, PLAIN, Input
from bench.hostile.latencies import served
from bench.wire.contender import HOME
from bench.wire.servers import Failed, Server

# Long enough for what is counted in ticks of 10 ms.
_SECONDS: Final = 0.4
_MIN_REQUESTS: Final = 5
# Each further 16 KiB that are transferred may cost as much as another request.
_SHARE_BYTES: Final = 16 << 10
# What the server does after the last response.
_AFTER_SECONDS: Final = 0.02
_TIMEOUT_SECONDS: Final = 20
_LENGTH: Final = re.compile(rb"\r\nContent-Length: (\d+)\r\n")
_END: Final = b"\r\n\r\n"
_PIECE: Final = 1 << 20


class Cost(msgspec.Struct, frozen=True):
    """The CPU time of a request in seconds, and the bytes transferred."""

    seconds: float
    bytes: float


class Costs(msgspec.Struct, frozen=True):
    """The cost of an ordinary 401, and that of an input measured next."""

    plain: Cost
    run: Cost

    @property
    def ratio(self) -> float:
        """The cost of an input over that of an ordinary 401."""
        return self.run.seconds / self.plain.seconds

    @property
    def share(self) -> float:
        """The same per 16 KiB transferred, rounded up."""
        return self.ratio / max(ceil(self.run.bytes / _SHARE_BYTES), 1)


class Client:
    """A client of one connection at a time, which it keeps as long as the inputs allow."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._received = bytearray()
        self._number = 0

    def send(self, given: Input) -> int:
        """Send an input, read all responses; return the bytes transferred. Raises `Failed` if a response is missing."""
        connected = self._socket or self._connect()
        self._number += 1
        sent = given.numbered(self._number)
        with suppress(ConnectionError):  # the server may close before it has read all
            connected.sendall(sent)
        received = sum(self._response(connected) for _ in range(given.answers))
        if given.closes:
            with suppress(ConnectionError):
                while given.answers and connected.recv(_PIECE):
                    pass
            self.close()
        return len(sent) + received

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self) -> socket.socket:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=_TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received.clear()
        return self._socket

    def _response(self, connected: socket.socket) -> int:
        """Read a response; return its length."""
        while (found := self._received.find(_END)) < 0:
            self._receive(connected)
        length = _LENGTH.search(self._received, 0, found + len(_END))
        end = found + len(_END) + (int(length[1]) if length else 0)
        while len(self._received) < end:
            self._receive(connected)
        del self._received[:end]
        return end

    def _receive(self, connected: socket.socket) -> None:
        piece = connected.recv(_PIECE)
        if not piece:
            raise Failed(f"the connection ended within a response: {bytes(self._received[:200])!r}")
        self._received += piece


@contextmanager
def _both(core: int) -> Iterator[dict[bool, Server]]:
    """Yield a service without options, and one with those that make it read more of a request, for some inputs."""
    log = HOME / "logs" / "hostile-access.log"
    options = ("--trusted-proxy", "127.0.0.1", "--cors-origin", "https://shop.example", "--access-log", str(log))
    try:
        with served(core) as server, served(core, *options, name="with options") as other:
            yield {False: server, True: other}
    finally:
        log.unlink(missing_ok=True)


def costs(core: int, *, pairs: int) -> dict[str, list[Costs]]:
    """Return the pairs of each input, measured in rounds. Raises `Failed`."""
    found: dict[str, list[Costs]] = {given.name: [] for given in INPUTS}
    with _both(core) as servers:
        for server in servers.values():
            _measure(server, PLAIN)
        for _ in range(pairs):
            for given in INPUTS:
                server = servers[given.everything]
                found[given.name].append(Costs(_measure(server, PLAIN), _measure(server, given)))
    return found


def _measure(server: Server, given: Input) -> Cost:
    """Send an input repeatedly; return the cost of each of its requests."""
    client, count, transferred = Client(server.port), 0, 0
    before, end = server.cpu_seconds(), time.monotonic() + _SECONDS
    while time.monotonic() < end or count < _MIN_REQUESTS:
        transferred += client.send(given)
        count += max(1, given.answers)
    client.close()
    time.sleep(_AFTER_SECONDS)
    return Cost((server.cpu_seconds() - before) / count, transferred / count)

"""Clients on raw sockets: one that sends an input and reads the responses."""

import re
import socket
from contextlib import suppress
from typing import Final

from bench.hostile.inputs import Input
from bench.wire.servers import Failed

_TIMEOUT_SECONDS: Final = 20
_LENGTH: Final = re.compile(rb"\r\nContent-Length: (\d+)\r\n")
_END: Final = b"\r\n\r\n"
_PIECE: Final = 1 << 20


class Client:
    """A client of one connection at a time, which is kept as far as the inputs allow it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._received = bytearray()
        self._number = 0

    def send(self, given: Input) -> int:
        """Send an input, read all responses; return how many bytes went to and fro. Raises `Failed` without them."""
        connected = self._socket or self._connect()
        self._number += 1
        sent = given.numbered(self._number)
        with suppress(ConnectionError):  # the server may have closed before it had read all
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
            raise Failed(f"the connection ended before a response was whole: {bytes(self._received[:200])!r}")
        self._received += piece

"""An upstream in place of the service: it records heads, and closes connections when they are reused."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Upstream:
    """A server on a Unix socket. It serves one request per connection, and closes the connection on the second."""

    def __init__(self, path: Path) -> None:
        self.heads: list[str] = []
        self.ended = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if self._head(connection):
                connection.sendall(_ANSWER)
                self.ended += self._head(connection)

    def _head(self, connection: socket.socket) -> bool:
        """Record a head; return whether there is one."""
        received = b""
        while b"\r\n\r\n" not in received:
            if not (more := connection.recv(65536)):
                return False
            received += more
        head = received.decode("latin-1")
        if not head.startswith("GET /ready "):  # which a proxy asks of itself
            self.heads.append(head)
            return True
        connection.sendall(_ANSWER)
        return False

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                Thread(target=self._answer, args=(self._socket.accept()[0],), daemon=True).start()

    @contextmanager
    def serving(self) -> Iterator["Upstream"]:
        """Serve inside the block."""
        Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()

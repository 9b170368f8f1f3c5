"""The worker processes of a service, and a connection to each."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from bench.servers import HOST, Contender, Failed, Server, service
from bench.shapes import KEY
from tests.program import sockets
from tests.run.load_clients import other_end

_REQUEST: Final = f"GET /stores?limit=1 HTTP/1.1\r\nHost: bench\r\nx-api-key: {KEY}\r\n\r\n".encode()
_VERSION: Final = b"\r\nX-Dataset-Version: "
_LENGTH: Final = b"\r\nContent-Length: "
_SECONDS: Final = 60
_PAUSE_SECONDS: Final = 0.01
_MAX_BYTES: Final = 1 << 16


def with_workers(data: Path, workers: int) -> Contender:
    """Return the service with a number of workers."""
    return service(data, "--workers", str(workers))


class Connection:
    """A persistent connection: one process serves all of its requests."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.close = self._socket.close

    @property
    def end(self) -> int:
        """The inode of the socket at its other end."""
        return other_end(self._socket)

    def send(self) -> bytes:
        """Request one store; return the version of the data. Raises `Failed`."""
        self._socket.sendall(_REQUEST)
        answer = self._socket.recv(_MAX_BYTES)
        head, _, body = answer.partition(b"\r\n\r\n")
        length, version = (head.partition(name)[2].partition(b"\r\n")[0] for name in (_LENGTH, _VERSION))
        if not answer.startswith(b"HTTP/1.1 200 ") or len(body) != int(length):
            raise Failed(f"the service returned {answer[:200]!r}")
        return version


@contextmanager
def connected(server: Server, count: int) -> Iterator[dict[int, Connection]]:
    """Yield a connection to each worker by its process. Raises `Failed` if some never respond."""
    opened: dict[int, Connection] = {}
    until = time.monotonic() + _SECONDS
    with ExitStack() as spare:
        while len(opened) < count:
            if time.monotonic() > until:
                raise Failed(f"{len(opened)} of {count} workers responded in {_SECONDS} s")
            connection = Connection(server.port)
            spare.callback(connection.close)
            with suppress(Failed):  # a worker without data yet
                connection.send()
                opened.setdefault(next(pid for pid in server.workers() if connection.end in sockets(pid)), connection)
            time.sleep(_PAUSE_SECONDS)
        yield opened

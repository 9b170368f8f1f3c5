"""The worker processes of a run, and a connection to each."""

import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from bench.wire import processes
from bench.wire.servers import Failed, Server
from bench.wire.shapes import KEY

_REQUEST: Final = f"GET /stores?limit=1 HTTP/1.1\r\nHost: bench\r\nx-api-key: {KEY}\r\n\r\n".encode()
_VERSION: Final = b"\r\nX-Dataset-Version: "
_LENGTH: Final = b"\r\nContent-Length: "
_CONNECT_SECONDS: Final = 30
_PAUSE_SECONDS: Final = 0.01
_TIMEOUT_SECONDS: Final = 60
_MAX_BYTES: Final = 1 << 16
_ESTABLISHED: Final = "01"


class Connection:
    """A persistent connection: one process serves all of its requests."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._socket.getsockname()[1]

    def send(self) -> bytes:
        """Request one store; return the version of the data. Raises `Failed`."""
        self._socket.sendall(_REQUEST)
        answer = self._socket.recv(_MAX_BYTES)
        head, _, body = answer.partition(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200 ") or len(body) != int(_field(head, _LENGTH)):
            raise Failed(f"the service returned {answer[:200]!r}")
        return _field(head, _VERSION)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def _field(head: bytes, name: bytes) -> bytes:
    return head.partition(name)[2].partition(b"\r\n")[0]


def workers(server: Server) -> list[int]:
    """Return the serving processes: the children of the one that was started, or itself if it has none."""
    _, *children = processes.family(server.pid)
    return children or [server.pid]


def count_connections(server: Server) -> Counter[int]:
    """Return the number of open connections of each worker."""
    owners = {inode: pid for pid in workers(server) for inode in _sockets(pid)}
    return Counter(owners[inode] for _, inode in _established(server.port) if inode in owners)


@contextmanager
def connected(server: Server, count: int) -> Iterator[dict[int, Connection]]:
    """Yield a connection to each worker by its process. Raises `Failed` if some never respond."""
    opened: dict[int, Connection] = {}
    spare: list[Connection] = []
    until = time.monotonic() + _CONNECT_SECONDS
    try:
        while len(opened) < count:
            if time.monotonic() > until:
                raise Failed(f"{len(opened)} of {count} workers responded in {_CONNECT_SECONDS} s")
            spare.append(Connection(server.port))
            with suppress(Failed):  # a worker without data yet
                spare[-1].send()
                opened.setdefault(_worker_of(server, spare[-1]), spare[-1])
            time.sleep(_PAUSE_SECONDS)
        yield opened
    finally:
        for connection in spare:
            connection.close()


def _worker_of(server: Server, connection: Connection) -> int:
    """Return the process at the other end of a connection."""
    inode = next(inode for port, inode in _established(server.port) if port == connection.port)
    return next(pid for pid in workers(server) if inode in _sockets(pid))


def _established(port: int) -> Iterator[tuple[int, str]]:
    """Yield the port of the client and the inode of the server's socket, of each open connection to a port."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_, inode = line.split()[:10]
        if state == _ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
            yield int(remote.rpartition(":")[2], 16), inode


def _sockets(pid: int) -> set[str]:
    """Return the inodes of a process's sockets."""
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            target = str(descriptor.readlink())
            found.add(target.removeprefix("socket:[").removesuffix("]"))
    return found

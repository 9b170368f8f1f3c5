"""Clients that ask over and over, each on one connection, and look hard at every answer."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from itertools import cycle
from pathlib import Path
from socket import inet_aton, socket
from threading import Event, Thread
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import orjson

from tests.program import SECONDS, Running, eventually, sockets
from tests.run.generations import Generation

# Places in a line of /proc/net/tcp.
_LOCAL, _REMOTE, _INODE = 1, 2, 9
# Between two questions: what is looked for lasts longer, and the processes that are looked at need the time.
_PAUSE_SECONDS = 0.01
_TARGETS = ("/stores", "/companies/acme", "/companies")


class Connected(Protocol):
    """A connection, by the inode of the socket at its other end."""

    @property
    def socket(self) -> int: ...

    def close(self) -> None: ...


_Connected = TypeVar("_Connected", bound=Connected)


class Versions:
    """The version of each generation, as the answers told it: one generation has one version, and no two share it."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def check(self, version: str, number: int) -> None:
        """Fail where a version came with records of another generation before."""
        assert self._told.setdefault(version, number) == number


class Client(Thread):
    """Asks over and over on one connection, until told to stop or until an answer is not in order.

    seen    the generation of the last answer
    failed  what was wrong, if something was
    """

    def __init__(self, address: str, versions: Versions) -> None:
        super().__init__(daemon=True)
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=SECONDS)
        self._versions = versions
        self._stopped = Event()
        self.answers = 0
        self.seen = 0
        self.failed: Exception | AssertionError | None = None

    def run(self) -> None:
        """Ask until told to stop."""
        try:
            for target in cycle(_TARGETS):
                self.ask(target)
                if self._stopped.wait(_PAUSE_SECONDS):
                    break
        except Exception as error:  # noqa: BLE001 - whoever started the thread is told
            self.failed = error
        finally:
            self.close()

    @property
    def socket(self) -> int:
        """The inode of the socket at the other end of its connection."""
        return other_end(self._connection.sock)

    def close(self) -> None:
        """Close its connection."""
        self._connection.close()

    def stop(self) -> None:
        """Stop after the answer that is under way; raise what was wrong, if something was."""
        self._stopped.set()
        self.join(SECONDS)
        if self.failed is not None:
            raise self.failed

    def get(self, target: str) -> tuple[HTTPResponse, bytes]:
        """Ask once; return what came back."""
        self._connection.request("GET", target)
        response = self._connection.getresponse()
        return response, response.read()

    def ask(self, target: str) -> int:
        """Ask once; return the generation of the answer, after a look at all of it."""
        response, body = self.get(target)
        assert response.status == 200, body
        number = _generation(target, orjson.loads(body))
        self._versions.check(response.headers["X-Dataset-Version"], number)
        assert number >= self.seen, f"generation {number} came after {self.seen}"
        self.seen = number
        self.answers += 1
        return number


def other_end(connection: socket) -> int:
    """Return the inode of the socket at the other end of a connection within this machine (proc_net_tcp(5))."""
    ends = [_spelled(end) for end in (connection.getpeername(), connection.getsockname())]
    connections = map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
    found = {int(each[_INODE]) for each in connections if each[_LOCAL : _REMOTE + 1] == ends}
    (inode,) = found - {0}  # some are listed twice, and some are over
    return inode


def _spelled(end: tuple[str, int]) -> str:
    """Return an address and port as /proc/net/tcp has them."""
    host, port = end
    return f"{int.from_bytes(inet_aton(host), sys.byteorder):08X}:{port:04X}"


def _generation(target: str, told: dict[str, object]) -> int:
    """Return which generation an answer is of; fail where it is not wholly of one."""
    records = told.get("data", [told])
    assert isinstance(records, list)
    (name,) = {record["name"] for record in records}
    generation = Generation(int(name.removeprefix("generation ")))
    if "data" in told:
        count = generation.stores if target == "/stores" else generation.companies
        assert told["total_count"] == len(records) == count
    return generation.number


def some_of(service: Running) -> list[Client]:
    """Return two clients of a service."""
    versions = Versions()
    return [Client(service.address, versions) for _ in range(2)]


def of_each_worker(service: Running) -> list[Client]:
    """Return a client of each worker, which keeps its connection, and was answered once."""
    versions = Versions()

    def connect() -> Client:
        client = Client(service.address, versions)
        client.get("/health")
        return client

    found = one_of_each_worker(service, connect)
    for client in found:
        client.ask("/stores")
    return found


def one_of_each_worker(service: Running, connect: Callable[[], _Connected]) -> list[_Connected]:
    """Return a connection to each worker, of those that `connect` opens and on which it was answered once."""
    workers = set(service.workers() or [service.process.pid])
    found: dict[int, _Connected] = {}

    def another() -> bool:
        connected = connect()
        owner = next(worker for worker in workers if connected.socket in sockets(worker))
        if found.setdefault(owner, connected) is not connected:
            connected.close()
        return found.keys() == workers

    eventually(another)
    return list(found.values())


@contextmanager
def clients(*asking: Client) -> Iterator[Sequence[Client]]:
    """Let clients ask meanwhile; fail where an answer was not in order, or where one got none."""
    for client in asking:
        client.start()
    try:
        yield asking
    finally:
        for client in asking:
            client.stop()
    assert all(client.answers for client in asking)


def all_see(asking: Sequence[Client], number: int) -> bool:
    """Return whether every client was answered of a generation, or failed, which ends the wait."""
    return all(client.seen >= number or client.failed is not None for client in asking)

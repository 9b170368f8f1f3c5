"""Clients that send requests in a loop, each on one connection, and check every response."""

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

# Fields of a line of /proc/net/tcp.
_LOCAL, _REMOTE, _INODE = 1, 2, 9
# Between two requests: what the tests look for lasts longer, and the service needs the processor time.
_PAUSE_SECONDS = 0.05
_TARGETS = ("/stores", "/companies/acme", "/companies")


class Connected(Protocol):
    """A connection, identified by the inode of the server's socket."""

    @property
    def socket(self) -> int: ...

    def close(self) -> None: ...


_Connected = TypeVar("_Connected", bound=Connected)


class Versions:
    """The generation of each version in responses: no two generations share a version."""

    def __init__(self) -> None:
        self._generations: dict[str, int] = {}

    def check(self, version: str, number: int) -> None:
        """Fail if a version appeared with another generation before."""
        assert self._generations.setdefault(version, number) == number


class Client(Thread):
    """Sends requests on one connection until it is stopped or a response is wrong.

    seen    generation of the last response
    failed  the error, if any
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
        """Send requests until stopped."""
        try:
            for target in cycle(_TARGETS):
                self.ask(target)
                if self._stopped.wait(_PAUSE_SECONDS):
                    break
        except Exception as error:  # noqa: BLE001 - `stop` raises it
            self.failed = error
        finally:
            self.close()

    @property
    def socket(self) -> int:
        """The inode of the server's socket of the connection."""
        return other_end(self._connection.sock)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def stop(self) -> None:
        """Stop after the current response; raise the error, if any."""
        self._stopped.set()
        self.join(SECONDS)
        if self.failed is not None:
            raise self.failed

    def get(self, target: str) -> tuple[HTTPResponse, bytes]:
        """Send a request; return the response and its body."""
        self._connection.request("GET", target)
        response = self._connection.getresponse()
        return response, response.read()

    def ask(self, target: str) -> int:
        """Send a request and check the response; return its generation."""
        response, body = self.get(target)
        assert response.status == 200, body
        number = _generation(target, orjson.loads(body))
        self._versions.check(response.headers["X-Dataset-Version"], number)
        assert number >= self.seen, f"generation {number} came after {self.seen}"
        self.seen = number
        self.answers += 1
        return number


def other_end(connection: socket) -> int:
    """Return the inode of the other socket of a connection within this machine (proc_net_tcp(5))."""
    ends = [_proc_format(end) for end in (connection.getpeername(), connection.getsockname())]
    connections = map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
    found = {int(each[_INODE]) for each in connections if each[_LOCAL : _REMOTE + 1] == ends}
    (inode,) = found - {0}  # some are listed twice, and some are closed
    return inode


def _proc_format(end: tuple[str, int]) -> str:
    """Return an address and port in the format of /proc/net/tcp."""
    host, port = end
    return f"{int.from_bytes(inet_aton(host), sys.byteorder):08X}:{port:04X}"


def _generation(target: str, body: dict[str, object]) -> int:
    """Return the generation of a response; fail if it mixes several."""
    records = body.get("data", [body])
    assert isinstance(records, list)
    (name,) = {record["name"] for record in records}
    generation = Generation(int(name.removeprefix("generation ")))
    if "data" in body:
        count = generation.stores if target == "/stores" else generation.companies
        assert body["total_count"] == len(records) == count
    return generation.number


def two_clients(service: Running) -> list[Client]:
    """Return two clients of a service."""
    versions = Versions()
    return [Client(service.address, versions) for _ in range(2)]


def clients_of_all_workers(service: Running) -> list[Client]:
    """Return a client of each worker, with an open connection that has served a request."""
    versions = Versions()

    def connect() -> Client:
        client = Client(service.address, versions)
        client.get("/health")
        return client

    found = connections_to_all_workers(service, connect)
    for client in found:
        client.ask("/stores")
    return found


def connections_to_all_workers(service: Running, connect: Callable[[], _Connected]) -> list[_Connected]:
    """Return a connection to each worker; `connect` opens one and sends a request on it."""
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
def running_clients(*running: Client) -> Iterator[Sequence[Client]]:
    """Run clients until the block ends; fail if a response was wrong, or a client had none."""
    for client in running:
        client.start()
    try:
        yield running
    finally:
        for client in running:
            client.stop()
    assert all(client.answers for client in running)


def all_see(running: Sequence[Client], number: int) -> bool:
    """Return whether every client has seen a generation, or has failed, which ends the wait."""
    return all(client.seen >= number or client.failed is not None for client in running)

"""After SIGTERM the service drains: it keeps serving, and asks load balancers to use others."""

import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.program import SECONDS, Running, eventually, serving
from tests.run.conftest import Serve
from tests.run.generations import Generation
from tests.run.load_clients import Client, clients_of_all_workers

pytestmark = pytest.mark.process

DRAINING = b'{"status":"draining"'
# A response of some megabytes.
TARGET = "/stores?limit=1000"
LONG = Generation(7, weight=500_000)


class Drained(NamedTuple):
    """A run with two SIGTERM during a long response, requests after each, and then SIGINT.

    connections  status and Connection field of responses on new connections, after each SIGTERM
    is_whole     whether the long response arrived completely
    code         exit code
    """

    connections: tuple[list[tuple[int, str]], list[tuple[int, str]]]
    is_whole: bool
    code: int


@pytest.fixture(scope="module", params=[1, 2], ids=["one process", "two workers"])
def drained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Drained:
    folder = tmp_path_factory.mktemp("drained")
    options = ("--cache", folder / "cache", "--no-auth", "--drain", "600", "--workers", str(request.param))
    with serving("--data", LONG.bake(folder), *options, log=folder / "log") as service:
        whole, kept = service.get(TARGET).body, clients_of_all_workers(service)
        with slow_reader(service) as client:
            connections = terminate(service, kept), terminate(service, [])
            is_whole = rest(client) == whole
        return Drained(connections, is_whole, service.end(signal.SIGINT))


def terminate(service: Running, kept: list[Client]) -> list[tuple[int, str]]:
    """Send SIGTERM, wait until the worker of each client drains, and return responses on new connections."""
    service.process.send_signal(signal.SIGTERM)
    for client in kept:
        with closing(client):
            eventually(partial(is_draining, client))
    return [response_on_a_new_connection(service) for _ in range(10)]


def is_draining(client: Client) -> bool:
    """Return whether the worker of a client reports that it drains; until then the connection stays open."""
    response, body = client.get("/ready")
    assert (response.status == 503) == (response.headers["Connection"] == "close") == body.startswith(DRAINING)
    return response.status == 503


def response_on_a_new_connection(service: Running) -> tuple[int, str]:
    with closing(HTTPConnection(urlsplit(service.address).netloc, timeout=SECONDS)) as connection:
        connection.request("GET", "/companies")
        response = connection.getresponse()
        return response.status, response.headers["Connection"]


@contextmanager
def slow_reader(service: Running) -> Iterator[socket.socket]:
    """Request a long response on a connection with a small receive buffer, and read nothing of it."""
    address = urlsplit(service.address)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.settimeout(SECONDS)
        client.connect((address.hostname, address.port))
        client.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(1, socket.MSG_PEEK) == b"H"  # the response has begun
        yield client


def rest(client: socket.socket) -> bytes:
    """Read the response; return its body."""
    with client.makefile("rb") as answer:
        length = 0
        while (line := answer.readline()) != b"\r\n":
            if line.startswith(b"Content-Length: "):
                length = int(line.removeprefix(b"Content-Length: "))
        assert length > 3_000_000
        return answer.read(length)


def test_after_sigterm_requests_are_served_and_their_connections_closed(drained: Drained) -> None:
    first, _ = drained.connections
    assert first == [(200, "close")] * 10


def test_a_second_sigterm_changes_nothing(drained: Drained) -> None:
    first, second = drained.connections
    assert second == first


def test_a_response_that_has_begun_is_completed(drained: Drained) -> None:
    assert drained.is_whole


def test_sigint_ends_the_service_at_once(drained: Drained) -> None:
    assert drained.code == 0


def test_the_service_ends_once_the_time_to_drain_is_over_and_not_before(serve: Serve, tmp_path: Path) -> None:
    service = serve(Generation(1).bake(tmp_path), "--drain", "0.5", "--workers", "2")
    start = monotonic()
    assert service.end() == 0
    assert monotonic() >= start + 0.5

"""After SIGTERM the service drains: it keeps serving, and asks load balancers to use others."""

import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import pytest

from tests.program import SECONDS, Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import Generation
from tests.run.load_clients import Client, clients_of_all_workers

pytestmark = pytest.mark.process

DRAINING = b'{"status":"draining"'
# A response of some megabytes.
TARGET = "/stores?limit=1000"
LONG = Generation(7, weight=500_000)


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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_after_each_sigterm_requests_are_served_and_their_connections_closed_and_sigint_ends_the_service_at_once(
    serve: Serve, tmp_path: Path, workers: str
) -> None:
    service = serve(LONG.bake(tmp_path), "--drain", "600", "--workers", workers)
    whole, kept = service.get(TARGET).body, clients_of_all_workers(service)
    with slow_reader(service) as client:
        for each in (kept, []):
            assert terminate(service, each) == [(200, "close")] * 10
        assert rest(client) == whole  # a response that had begun
    assert service.end(signal.SIGINT) == 0


def test_the_service_ends_once_the_time_to_drain_is_over_and_not_before(serve: Serve, tmp_path: Path) -> None:
    service = serve(Generation(1).bake(tmp_path), "--drain", "0.5", "--workers", "2")
    start = monotonic()
    assert service.end() == 0
    assert monotonic() >= start + 0.5

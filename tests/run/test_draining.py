"""Told to end, the service lets others be asked instead, and meanwhile answers on."""

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
from tests.run.asking import Client, of_each_worker
from tests.run.conftest import Serve
from tests.run.generations import Generation

DRAINING = b'{"status":"draining"'
TARGET = "/stores?limit=1000"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path).replace(tmp_path / "set.baked")


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """Return a data set of which one answer is some megabytes."""
    return Generation(7, weight=500_000).bake(tmp_path)


def is_draining(service: Running) -> bool:
    return service.get("/ready").body.startswith(DRAINING)


def is_told_draining(client: Client) -> bool:
    """Return whether the worker that a client is connected to says that it drains; until then the connection stays."""
    response, body = client.get("/ready")
    assert (response.status == 503) == (response.headers["Connection"] == "close") == body.startswith(DRAINING)
    return response.status == 503


@contextmanager
def slow_reader(service: Running) -> Iterator[socket.socket]:
    """Ask for a long answer on a connection of little room, and read nothing of it."""
    address = urlsplit(service.address)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(SECONDS)
        client.connect((address.hostname, address.port))
        client.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(1, socket.MSG_PEEK) == b"H"  # it is under way
        yield client


def rest(client: socket.socket) -> bytes:
    """Return the body of all that is still to be read of an answer."""
    with client.makefile("rb") as answer:
        length = 0
        while (line := answer.readline()) != b"\r\n":
            if line.startswith(b"Content-Length: "):
                length = int(line.removeprefix(b"Content-Length: "))
        return answer.read(length)


@pytest.mark.parametrize("workers", [1, 2])
def test_after_a_term_signal_ready_is_503_and_requests_are_answered_and_connections_closed_until_the_time_is_over(
    serve: Serve, file: Path, workers: int
) -> None:
    service = serve(file, "--drain", "1.5", "--workers", str(workers))
    kept = of_each_worker(service)
    began = monotonic()
    service.process.send_signal(signal.SIGTERM)
    for client in kept:
        with closing(client):
            eventually(partial(is_told_draining, client))
    answered = 0
    while service.process.poll() is None and monotonic() < began + 1:
        with closing(HTTPConnection(urlsplit(service.address).netloc, timeout=SECONDS)) as connection:
            connection.request("GET", "/stores")
            response = connection.getresponse()
            assert (response.status, response.headers["Connection"]) == (200, "close")
            assert is_draining(service)
            answered += 1
    assert answered > 10
    assert service.process.wait(SECONDS) == 0
    assert monotonic() >= began + 1.5


@pytest.mark.parametrize(("drain", "workers"), [("0", 1), ("1", 2)])
def test_an_answer_that_is_under_way_arrives_whole(serve: Serve, long: Path, drain: str, workers: int) -> None:
    service = serve(long, "--drain", drain, "--workers", str(workers))
    whole = service.get(TARGET).body
    assert len(whole) > 3_000_000
    with slow_reader(service) as client:
        service.process.send_signal(signal.SIGTERM)
        if drain != "0":
            eventually(lambda: is_draining(service))
        assert rest(client) == whole
    assert service.process.wait(SECONDS) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_it_at_once(serve: Serve, file: Path, workers: int) -> None:
    service = serve(file, "--drain", "600", "--workers", str(workers))
    service.process.send_signal(signal.SIGTERM)
    eventually(lambda: is_draining(service))
    assert service.end(signal.SIGINT) == 0


def test_a_second_term_signal_changes_nothing(serve: Serve, file: Path) -> None:
    service = serve(file, "--drain", "1", "--workers", "2")
    began = monotonic()
    service.process.send_signal(signal.SIGTERM)
    eventually(lambda: is_draining(service))
    service.process.send_signal(signal.SIGTERM)
    while monotonic() < began + 0.5:
        assert service.get("/stores").status == 200
    assert service.process.wait(SECONDS) == 0

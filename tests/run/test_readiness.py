"""With several workers /ready is 200 once all have data, and a worker without data accepts no connections."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from socket import create_server, socket
from threading import Event, Thread

import pytest

from service.baking.baked_file import write_baked
from tests.baking.random_datasets import loaded
from tests.directory import store, write_directory
from tests.program import SECONDS, Running, eventually, kill, sockets, started
from tests.run.conftest import Serve
from tests.run.load_clients import other_end
from tests.run.test_workers import kill_worker

pytestmark = pytest.mark.process

STORES = 10_000
TARGET = "/stores?limit=1"
LOADING = b'{"status":"loading"'
REQUESTS = 50


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a baked file large enough that loading it takes noticeable time."""
    folder = tmp_path_factory.mktemp("large")
    file = folder / "set.baked"
    write_baked(loaded(write_directory(folder / "files", (store(f"s{number}") for number in range(STORES)))), file)
    return file


class Start:
    """A service that is starting, and listens.

    public, probes  its addresses: for the operations on records, and for /health and /ready
    """

    def __init__(self, process: subprocess.Popen[str], options: tuple[str, ...]) -> None:
        self._process = process
        self.public = self.probes = Running(process, "", self._address("Listening on "))
        if "--admin" in options:
            self.probes = Running(process, "", self._address("Probes and metrics on "))

    def _address(self, before: str) -> str:
        line = self.printed()
        assert line.startswith(before), line
        return line.removeprefix(before).strip()

    def printed(self) -> str:
        """Return the next printed line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def is_loading(self) -> bool:
        """Return whether /ready reports that the data is being loaded."""
        assert self.probes.get("/health").status == 200
        answer = self.probes.get("/ready")
        assert (answer.status == 503) == answer.body.startswith(LOADING)
        return answer.status == 503

    def statuses(self, target: str) -> set[int]:
        """Return the statuses of many responses, each on a new connection."""
        service = self.probes if target == "/ready" else self.public
        return {service.get(target).status for _ in range(REQUESTS)}


@contextmanager
def starting(data: str | Path, cache: Path, *options: str) -> Iterator[Start]:
    """Start a service, and yield it as soon as it listens."""
    with started("--data", data, "--cache", cache, "--no-auth", *options) as process:
        try:
            yield Start(process, options)
        finally:
            kill(process)


class Origin:
    """An origin whose responses the test sends."""

    def __init__(self, listening: socket) -> None:
        self._listening = listening
        listening.settimeout(SECONDS)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/set.baked"

    def request(self, start: Start) -> tuple[socket, int]:
        """Wait for a request; return its connection, and the worker that sent it."""
        connection, _ = self._listening.accept()
        connection.recv(1 << 16)
        end = other_end(connection)
        return connection, next(worker for worker in start.public.workers() if end in sockets(worker))


def listens(service: Running) -> bool:
    """Return whether the service accepts a connection."""
    with suppress(OSError):
        return service.get("/health").status == 200
    return False


def answer(request: socket, file: Path) -> None:
    """Respond to a request with a file."""
    content = file.read_bytes()
    with request:
        request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(content))
        request.sendall(content)


@pytest.fixture
def origin() -> Iterator[Origin]:
    with create_server(("127.0.0.1", 0)) as listening:
        yield Origin(listening)


def test_ready_is_503_and_not_printed_until_the_last_worker_has_data(origin: Origin, cache: Path, large: Path) -> None:
    with starting(origin.url, cache, "--workers", "3", "--admin", "127.0.0.1:0") as start:
        request, leader = origin.request(start)
        assert start.is_loading()
        *_, last = eventually(lambda: [worker for worker in start.public.workers() if worker != leader])
        os.kill(last, signal.SIGSTOP)  # so that it does not load the data
        answer(request, large)
        eventually(lambda: start.public.get(TARGET).status == 200)
        assert all(start.is_loading() for _ in range(REQUESTS))
        os.kill(last, signal.SIGCONT)
        eventually(lambda: not start.is_loading())
        assert start.statuses(TARGET) == start.statuses("/ready") == {200}
        assert start.printed().startswith(f"Ready: {STORES:,} stores")


def test_after_the_leader_is_killed_another_worker_fetches_and_serves_the_probes(
    origin: Origin, cache: Path, large: Path
) -> None:
    with starting(origin.url, cache, "--workers", "2") as start:
        unanswered, leader = origin.request(start)
        with unanswered:
            assert start.is_loading()
            os.kill(leader, signal.SIGKILL)
            request, another = origin.request(start)
        assert another != leader
        eventually(partial(listens, start.public))
        assert start.is_loading()
        answer(request, large)
        assert start.printed().startswith("Ready: ")
        assert start.statuses(TARGET) == start.statuses("/ready") == {200}


class Hammer(Thread):
    """Sends requests, each on a new connection, until stopped.

    statuses  of the responses
    """

    def __init__(self, service: Running, target: str) -> None:
        super().__init__(daemon=True)
        self._service, self._target = service, target
        self._stopped = Event()
        self.statuses: list[int] = []

    def run(self) -> None:
        while not self._stopped.is_set():
            with suppress(OSError, HTTPException):  # the worker may be killed
                self.statuses.append(self._service.get(self._target).status)

    def stop(self) -> None:
        self._stopped.set()
        self.join(SECONDS)


def answered(hammers: Sequence[Hammer], count: int) -> bool:
    return all(len(hammer.statuses) > count for hammer in hammers)


def test_workers_killed_under_load_cause_no_503(serve: Serve, large: Path) -> None:
    service = serve(large, "--workers", "3")
    hammers = [Hammer(service, target) for target in ("/ready", TARGET)]
    for hammer in hammers:
        hammer.start()
    for killed, worker in enumerate(service.workers(), 1):
        kill_worker(service, worker)
        eventually(partial(answered, hammers, killed * REQUESTS))
    for hammer in hammers:
        hammer.stop()
        assert set(hammer.statuses) == {200}

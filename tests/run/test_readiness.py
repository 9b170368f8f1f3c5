"""With several workers /ready is 200 once each of them has data, and a worker without data takes no connections."""

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

from service.baking.baked_file import bake
from tests.baking.made_up import loaded
from tests.directory import store, write_directory
from tests.program import SECONDS, Running, eventually, kill, sockets, started
from tests.run.asking import other_end
from tests.run.conftest import Serve
from tests.run.test_workers import kill_worker

STORES = 30_000
TARGET = "/stores?limit=1"
LOADING = b'{"status":"loading"'
ASKED = 200
APART = ("--admin", "127.0.0.1:0")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a baked file of so many stores that a worker takes its time over it."""
    folder = tmp_path_factory.mktemp("large")
    file = folder / "set.baked"
    bake(*loaded(write_directory(folder / "files", (store(f"s{number}") for number in range(STORES)))), file)
    return file


class Start:
    """A service that starts, and listens.

    public, probes  what it answers on: the operations on records, and /health and /ready
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
        """Return the next line that it prints."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def loads(self) -> bool:
        """Return whether it says that the data is being loaded."""
        assert self.probes.get("/health").status == 200
        answer = self.probes.get("/ready")
        assert (answer.status == 503) == answer.body.startswith(LOADING)
        return answer.status == 503

    def statuses(self, target: str) -> set[int]:
        """Return the statuses of many answers, each on a new connection."""
        service = self.probes if target == "/ready" else self.public
        return {service.get(target).status for _ in range(ASKED)}


@contextmanager
def starting(data: str | Path, cache: Path, *options: str) -> Iterator[Start]:
    """Start a service, and return it as soon as it listens."""
    with started("--data", data, "--cache", cache, "--no-auth", *options) as process:
        try:
            yield Start(process, options)
        finally:
            kill(process)


class Origin:
    """An origin that answers when the test does."""

    def __init__(self, listening: socket) -> None:
        self._listening = listening
        listening.settimeout(SECONDS)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/set.baked"

    def asked(self, start: Start) -> tuple[socket, int]:
        """Return the next request for the file, and the worker that sent it."""
        connection, _ = self._listening.accept()
        connection.recv(1 << 16)
        end = other_end(connection)
        return connection, next(worker for worker in start.public.workers() if end in sockets(worker))


def listens(service: Running) -> bool:
    """Return whether a connection is accepted."""
    with suppress(OSError):
        return service.get("/health").status == 200
    return False


def answer(request: socket, file: Path) -> None:
    """Answer a request with a file."""
    content = file.read_bytes()
    with request:
        request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(content))
        request.sendall(content)


@pytest.fixture
def origin() -> Iterator[Origin]:
    with create_server(("127.0.0.1", 0)) as listening:
        yield Origin(listening)


@pytest.mark.parametrize("apart", [(), APART])
def test_ready_is_503_and_nothing_is_printed_until_the_last_worker_has_data(
    origin: Origin, cache: Path, large: Path, apart: tuple[str, ...]
) -> None:
    with starting(origin.url, cache, "--workers", "3", *apart) as start:
        request, leader = origin.asked(start)
        assert start.loads()
        *_, last = eventually(lambda: [worker for worker in start.public.workers() if worker != leader])
        os.kill(last, signal.SIGSTOP)  # so its load takes long
        answer(request, large)
        eventually(lambda: start.public.get(TARGET).status == 200)
        assert all(start.loads() for _ in range(ASKED))
        os.kill(last, signal.SIGCONT)
        eventually(lambda: not start.loads())
        assert start.statuses(TARGET) == start.statuses("/ready") == {200}
        assert start.printed().startswith(f"Ready: {STORES:,} stores")


def test_where_the_worker_that_loads_is_killed_another_one_loads_and_answers_the_probes(
    origin: Origin, cache: Path, large: Path
) -> None:
    with starting(origin.url, cache, "--workers", "2") as start:
        unanswered, leader = origin.asked(start)
        with unanswered:
            assert start.loads()
            os.kill(leader, signal.SIGKILL)
            request, another = origin.asked(start)
        assert another != leader
        eventually(partial(listens, start.public))
        assert start.loads()
        answer(request, large)
        assert start.printed().startswith("Ready: ")
        assert start.statuses(TARGET) == start.statuses("/ready") == {200}


@pytest.mark.parametrize(("workers", "apart"), [("2", ()), ("4", APART)])
def test_once_ready_was_200_no_request_is_answered_that_the_data_is_being_loaded(
    cache: Path, large: Path, workers: str, apart: tuple[str, ...]
) -> None:
    with starting(large, cache, "--workers", workers, *apart) as start:
        while start.loads():
            pass
        assert start.statuses(TARGET) == start.statuses("/ready") == {200}


class Hammer(Thread):
    """Asks over and over, each time on a new connection, until told to stop.

    statuses  those of its answers
    """

    def __init__(self, service: Running, target: str) -> None:
        super().__init__(daemon=True)
        self._service, self._target = service, target
        self._stopped = Event()
        self.statuses: list[int] = []

    def run(self) -> None:
        while not self._stopped.is_set():
            with suppress(OSError, HTTPException):  # of a worker that is killed over it
                self.statuses.append(self._service.get(self._target).status)

    def stop(self) -> None:
        self._stopped.set()
        self.join(SECONDS)


def answered(hammers: Sequence[Hammer], count: int) -> bool:
    return all(len(hammer.statuses) > count for hammer in hammers)


def test_workers_that_are_killed_under_load_make_neither_ready_nor_a_request_503(serve: Serve, large: Path) -> None:
    service = serve(large, "--workers", "3")
    hammers = [Hammer(service, target) for target in ("/ready", TARGET)]
    for hammer in hammers:
        hammer.start()
    for killed, worker in enumerate(service.workers(), 1):
        kill_worker(service, worker)
        eventually(partial(answered, hammers, killed * ASKED))
    for hammer in hammers:
        hammer.stop()
        assert set(hammer.statuses) == {200}

"""The main process notifies the service manager: ready once data is served, and of reloads and the end."""

import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

from tests.baking.random_datasets import baked_file
from tests.directory import store, write_directory
from tests.program import SECONDS, Running, eventually, serving, started
from tests.run.test_readiness import Origin, Start, answer

pytestmark = [pytest.mark.process, pytest.mark.ci]

WORKERS = pytest.mark.parametrize("workers", ["1", "2"])


class Manager:
    """A service manager, which knows who sent a notification, as systemd does."""

    def __init__(self, bound: socket.socket, address: str) -> None:
        self._bound, self.address = bound, address

    def next(self) -> tuple[str, int]:
        """Return the first line of the next notification, and the process that sent it."""
        data, ancillary, _, _ = self._bound.recvmsg(1000, 100)
        ((_, _, credentials),) = ancillary
        return data.decode().partition("\n")[0], struct.unpack("3i", credentials)[0]

    def has_next(self) -> bool:
        """Return whether a notification was sent that was not read."""
        return bool(select([self._bound], [], [], 0)[0])


@contextmanager
def managing(folder: Path) -> Iterator[Manager]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.settimeout(SECONDS)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        bound.bind(str(folder / "notify"))
        yield Manager(bound, str(folder / "notify"))


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with managing(tmp_path) as found:
        yield found


def baked(folder: Path, stores: int) -> Path:
    """Return the file `stores.baked` of a folder, replaced with one of so many stores."""
    files = write_directory(folder / "data", [store(f"s{number}") for number in range(stores)])
    return baked_file(files, folder / "new.baked").replace(folder / "stores.baked")


@contextmanager
def managed(manager: Manager, data: Path, *options: str) -> Iterator[Running]:
    """Run a service under the manager, from the notification that it is ready."""
    cache = data.parent / "cache"
    arguments: tuple[str | Path, ...] = ("--data", data, "--cache", cache, "--no-auth", *options)
    with serving(*arguments, log=data.parent / "log", NOTIFY_SOCKET=manager.address) as service:
        assert manager.next() == ("READY=1", service.process.pid)
        yield service


@WORKERS
def test_ready_is_sent_once_data_is_served_and_not_before(tmp_path: Path, manager: Manager, workers: str) -> None:
    options = ("--cache", tmp_path / "cache", "--no-auth", "--workers", workers)
    file = baked(tmp_path, 1)
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        started("--data", Origin(listening).url, *options, NOTIFY_SOCKET=manager.address) as process,
    ):
        start = Start(process, ())
        fetching, _ = listening.accept()
        fetching.recv(1 << 16)
        assert start.is_loading()
        assert not manager.has_next()
        answer(fetching, file)
        assert manager.next() == ("READY=1", process.pid)
        assert start.public.get("/stores").status == start.probes.get("/ready").status == 200


@pytest.mark.parametrize(("workers", "stores"), [("1", 2), ("1", 0), ("2", 0)])
def test_a_requested_reload_ends_also_if_its_data_is_rejected(
    tmp_path: Path, manager: Manager, workers: str, stores: int
) -> None:
    data = baked(tmp_path, 1)
    with managed(manager, data, "--workers", workers, "--poll", "3600") as service:
        baked(tmp_path, stores)
        service.process.send_signal(signal.SIGHUP)
        assert [manager.next(), manager.next()] == [(each, service.process.pid) for each in ("RELOADING=1", "READY=1")]
        eventually(lambda: service.ready()["last_reload"]["ok"] == bool(stores))  # any worker may respond


@WORKERS
def test_stopping_is_sent_when_draining_begins(tmp_path: Path, manager: Manager, workers: str) -> None:
    with managed(manager, baked(tmp_path, 1), "--workers", workers, "--drain", "600") as service:
        service.process.send_signal(signal.SIGTERM)
        assert manager.next() == ("STOPPING=1", service.process.pid)
        assert service.end(signal.SIGINT) == 0

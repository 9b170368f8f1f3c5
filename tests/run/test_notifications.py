"""The main process notifies the service manager: ready once data is served, and of reloads and the end."""

import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from tests.program import SECONDS, eventually, serving, started
from tests.run.generations import bake_stores
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


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.settimeout(SECONDS)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        bound.bind(str(tmp_path / "notify"))
        yield Manager(bound, str(tmp_path / "notify"))


@WORKERS
def test_ready_is_sent_once_data_is_served_and_not_before(tmp_path: Path, manager: Manager, workers: str) -> None:
    options = ("--cache", tmp_path / "cache", "--no-auth", "--workers", workers)
    file = bake_stores(tmp_path, 1)
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


@WORKERS
def test_a_requested_reload_ends_also_if_its_data_is_rejected_and_stopping_is_sent_when_draining_begins(
    tmp_path: Path, manager: Manager, workers: str
) -> None:
    options = ("--data", bake_stores(tmp_path, 1), "--cache", tmp_path / "cache", "--no-auth", "--workers", workers)
    log, variable = tmp_path / "log", {"NOTIFY_SOCKET": manager.address}
    with serving(*options, "--poll", "3600", "--drain", "600", log=log, **variable) as service:
        for stores in (None, 2, 0):
            if stores is not None:
                bake_stores(tmp_path, stores)
                service.process.send_signal(signal.SIGHUP)
                assert manager.next() == ("RELOADING=1", service.process.pid)
            assert manager.next() == ("READY=1", service.process.pid)
            eventually(lambda: service.ready()["last_reload"]["ok"] == (stores != 0))  # noqa: B023 - called at once; any worker may respond
        service.process.send_signal(signal.SIGTERM)
        assert manager.next() == ("STOPPING=1", service.process.pid)
        assert service.end(signal.SIGINT) == 0

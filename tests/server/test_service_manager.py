"""Notifications reach the socket of the service manager, at a path or an abstract address."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.server.console import ServiceManager, service_manager
from tests.program import SECONDS

pytestmark = pytest.mark.process


@pytest.fixture
def received() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.settimeout(SECONDS)
        yield bound


def test_each_notification_is_a_datagram_at_a_path_and_a_reload_has_the_monotonic_clock_in_microseconds(
    tmp_path: Path, received: socket.socket
) -> None:
    received.bind(str(tmp_path / "notify"))
    manager, before = ServiceManager(str(tmp_path / "notify")), time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    for notify in (manager.ready, manager.stopping, manager.reloading):
        notify()
    assert [received.recv(100), received.recv(100)] == [b"READY=1", b"STOPPING=1"]
    state, _, sent = received.recv(100).decode().partition("\nMONOTONIC_USEC=")
    assert state == "RELOADING=1"
    assert before <= int(sent) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def test_an_abstract_address_begins_with_an_at_sign(received: socket.socket) -> None:
    received.bind("")  # Linux chooses an abstract address
    ServiceManager(f"@{received.getsockname()[1:].decode()}").ready()
    assert received.recv(100) == b"READY=1"


def test_a_socket_that_is_gone_is_a_warning_and_other_processes_inherit_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    manager, of_another = service_manager(), service_manager()
    assert (manager, of_another) == (ServiceManager(str(tmp_path / "gone")), ServiceManager())
    manager.ready()
    of_another.ready()
    assert caplog.messages == ["the service manager at NOTIFY_SOCKET was not notified: No such file or directory"]

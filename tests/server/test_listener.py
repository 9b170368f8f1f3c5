"""Addresses to listen on: their description, and advice if one cannot be bound."""

import errno
import os
import re
import socket
from http import HTTPStatus
from pathlib import Path

import msgspec
import pytest

from service.server.listener import CannotListen, Listener, bind, remedy
from tests.program import run, serving, start_error, started
from tests.run.generations import bake_stores


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return bake_stores(tmp_path, 1)


@pytest.mark.process
@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_addresses_in_use_with_the_options_to_change_them_and_missing_data_are_reported_together(
    tmp_path: Path, workers: str
) -> None:
    missing = tmp_path / "nosuch"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        addresses = ("--port", port, "--admin", f"127.0.0.1:{port}")
        ended = run("serve", "--data", missing, "--workers", workers, *addresses)
    assert ended.returncode == 1
    admin, public, data = start_error(ended).splitlines()
    why = f"cannot listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}; choose another port with"
    assert admin == f"Error: {why} --admin, or a free one with `--admin 127.0.0.1:0`"
    assert public == f"{why} --port, or a free one with `--port 0`"
    assert data.startswith(f"the data set in {missing} is rejected: {missing}: there is no such file or folder")


@pytest.mark.process
def test_no_unix_socket_is_left_if_the_admin_address_is_in_use(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "service.sock"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = run("serve", "--data", data, "--uds", file, "--admin", f"127.0.0.1:{listening.getsockname()[1]}")
    assert (ended.returncode, len(start_error(ended).splitlines())) == (1, 1)
    assert not file.exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        (("--host", "::", "--admin", "[::]:0"), ("127.0.0.1", "[::1]")),
        (("--host", "::", "--admin", "[::]:0", "--workers", "2"), ("127.0.0.1", "[::1]")),
        (("--host", "127.0.0.1", "--host", "127.0.0.2"), ("127.0.0.1", "127.0.0.2")),
    ],
)
def test_each_of_several_hosts_and_both_families_of_all_addresses_answer_at_the_same_port(
    data: Path, tmp_path: Path, options: tuple[str, ...], hosts: tuple[str, str]
) -> None:
    with serving("--data", data, *options, "--no-auth", log=tmp_path / "log") as service:
        port = service.address.rpartition(":")[2]
        for host in hosts:
            there = msgspec.structs.replace(service, address=f"http://{host}:{port}")
            assert there.get("/stores").status == HTTPStatus.OK


@pytest.mark.process
def test_a_port_in_use_in_one_family_or_at_one_host_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        for hosts in (("::",), ("127.0.0.2", "127.0.0.1")):
            with pytest.raises(CannotListen, match=os.strerror(errno.EADDRINUSE)):
                bind(hosts, port, shared=False)
        bind(("127.0.0.2",), port, shared=False).sockets[0].close()


@pytest.mark.process
@pytest.mark.parametrize("host", ["256.1.1.1", "192.0.2.1"], ids=["invalid", "another machine's"])
@pytest.mark.parametrize("admin", [False, True])
def test_a_host_of_another_machine_is_an_error_with_a_valid_example(host: str, *, admin: bool) -> None:
    option = "--admin" if admin else "--host"
    with pytest.raises(CannotListen) as caught:
        bind((host,), 8080, shared=False, admin=admin)
    assert str(caught.value).startswith(f"cannot listen on {host}:8080: ")
    assert str(caught.value).endswith(
        f"; {option} must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all IPv4 addresses"
    )


@pytest.mark.parametrize(
    ("host", "admin", "free"),
    [
        ("127.0.0.1", False, "`--port 0`"),
        ("127.0.0.1", True, "`--admin 127.0.0.1:0`"),
        ("::1", True, "`--admin [::1]:0`"),
    ],
)
def test_a_privileged_port_is_an_error_with_the_option_for_a_free_one(host: str, free: str, *, admin: bool) -> None:
    advice = remedy(PermissionError(errno.EACCES, "Permission denied"), host, admin=admin)
    assert advice.startswith("; ports below 1024 need a privilege: ")
    assert advice.endswith(f", or a free one with {free}")


def test_other_errors_have_no_advice() -> None:
    assert remedy(OSError(errno.EMFILE, "Too many open files"), "127.0.0.1", admin=False) == ""


class At(socket.socket):
    """A socket that seems to be bound to an address."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self._host = host

    def getsockname(self) -> tuple[str, int]:
        """Return the address."""
        return self._host, 8080


@pytest.mark.parametrize(
    ("host", "place", "url", "is_local"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("127.8.0.1", "http://127.8.0.1:8080", "http://127.8.0.1:8080", True),
        ("192.0.2.1", "http://192.0.2.1:8080", "http://192.0.2.1:8080", False),
        ("0.0.0.0", "0.0.0.0:8080 (all IPv4 addresses of this machine)", "http://127.0.0.1:8080", False),
        ("::1", "http://[::1]:8080", "http://[::1]:8080", True),
        ("fe80::1%eth0", "http://[fe80::1%eth0]:8080", "http://[fe80::1%eth0]:8080", False),
        ("::", "[::]:8080 (all addresses of this machine)", "http://[::1]:8080", False),
    ],
)
def test_a_wildcard_is_described_without_a_url_and_its_url_is_local(
    host: str, place: str, url: str, *, is_local: bool
) -> None:
    with At(host) as bound:
        listener = Listener((bound,))
        assert (listener.address, listener.url, listener.is_local) == (place, url, is_local)


def test_a_listener_is_local_only_if_all_its_addresses_are() -> None:
    with At("127.0.0.1") as inside, At("192.0.2.1") as outside:
        assert not Listener((inside, outside)).is_local


@pytest.mark.process
def test_without_keys_a_public_address_is_warned_of_once(data: Path, tmp_path: Path) -> None:
    options = ("--host", "0.0.0.0", "--no-auth", "--admin", "0.0.0.0:0", "--workers", "2")
    with started("--data", data, *options, log=tmp_path / "log") as process:
        assert process.stdout is not None
        try:
            listening, admin, _, curl, explorer, docs = [process.stdout.readline() for _ in range(6)]
        finally:
            process.terminate()
    printed = re.fullmatch(r"Listening on 0\.0\.0\.0:(\d+) \(all IPv4 addresses of this machine\)\n", listening)
    assert printed is not None
    assert re.fullmatch(r"Probes and metrics on 0\.0\.0\.0:\d+ \(all IPv4 addresses of this machine\)\n", admin)
    assert curl == f"Try: curl 'http://127.0.0.1:{printed[1]}/stores?limit=2'\n"
    assert explorer == f"Explore: http://127.0.0.1:{printed[1]}/explorer\n"
    assert docs == f"Docs: http://127.0.0.1:{printed[1]}/docs\n"
    (warning,) = [line for line in (tmp_path / "log").read_text().splitlines() if "WARNING" in line]
    place = listening.removeprefix("Listening on ").strip()
    assert warning.endswith(f"--no-auth: any client that can reach {place} can read the data without a key")


@pytest.mark.process
def test_a_public_address_with_keys_is_not_warned_of(data: Path, tmp_path: Path) -> None:
    with serving("--data", data, "--host", "0.0.0.0", log=tmp_path / "log"):
        pass
    assert "WARNING" not in (tmp_path / "log").read_text()

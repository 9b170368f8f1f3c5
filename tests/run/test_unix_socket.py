"""The service on a Unix socket: permissions, stale sockets, cleaning up."""

import fcntl
import os
import shlex
import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import orjson
import pytest

from service.server.listener import CannotListen, bind_unix
from tests.program import SECONDS, Running, eventually, has_ended, run, serving
from tests.run.generations import bake_stores
from tests.unix_socket import ask_socket

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bake_stores(tmp_path_factory.mktemp("data"), 2)


@pytest.fixture(scope="module")
def shared(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a service for the tests that only send requests; it trusts proxies on its socket."""
    scratch = tmp_path_factory.mktemp("it's")
    options = ("--no-auth", "--uds", scratch / "socket", "--trusted-proxy", "unix", "--trusted-proxy", "10.0.0.0/8")
    variables = {"STORE_DIRECTORY_TRUSTED_PROXY": "ignored by the option"}
    with serving("--data", data, *options, "--admin", "127.0.0.1:0", log=scratch / "log", **variables) as service:
        yield service


def path_of(service: Running) -> Path:
    return Path(service.address.removeprefix("unix:"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "service.sock"


def total(path: Path) -> int:
    count: int = orjson.loads(ask_socket(path, "/stores").body)["total_count"]
    return count


def test_only_owner_and_group_can_connect_the_printed_command_works_and_the_log_names_a_peer_without_an_address(
    shared: Running,
) -> None:
    path = path_of(shared)
    assert "Probes and metrics on http://127.0.0.1:" in shared.printed
    assert "Docs: " not in shared.printed
    (line,) = (line for line in shared.printed.splitlines() if line.startswith("Try: "))
    command = ["curl", "--unix-socket", str(path), "http://localhost/stores?limit=2"]
    assert shlex.split(line.removeprefix("Try: ")) == command
    assert total(path) == 2
    assert stat.filemode(path.stat().st_mode) == "srw-rw----"
    proxied = {"X-Forwarded-For": "203.0.113.7", "Forwarded": "for=203.0.113.7"}
    assert ask_socket(path, "/stores", proxied).body == ask_socket(path, "/stores").body
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"no request\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    eventually(lambda: [line for line in shared.logged() if "refused a malformed request from unix:" in line])
    assert not [line for line in shared.logged() if "without a key" in line]  # which is for public addresses


def test_the_socket_of_a_running_service_is_not_replaced(shared: Running) -> None:
    refused = run("serve", "--uds", path_of(shared))
    assert refused.returncode == 1
    assert f"cannot listen on {shared.address}: another process is listening there" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert total(path_of(shared)) == 2


def test_a_concurrent_start_does_not_remove_the_socket_of_the_first(path: Path) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    lock = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with ThreadPoolExecutor() as pool, socket.socket(socket.AF_UNIX) as first:
        second = pool.submit(bind_unix, str(path))
        with pytest.raises(TimeoutError):
            second.result(0.2)
        path.unlink()
        first.bind(str(path))
        first.listen()
        os.close(lock)
        with pytest.raises(CannotListen, match="another process is listening there"):
            second.result(SECONDS)
        assert path.is_socket()


def test_a_file_that_is_not_a_socket_is_kept_and_reported(path: Path) -> None:
    path.write_text("mine")
    (path.parent / "link").symlink_to("nowhere")
    for file in (path, path.parent / "link"):
        with pytest.raises(CannotListen, match="it exists and is not a socket"):
            bind_unix(str(file))
    assert path.read_text() == "mine"


@pytest.mark.parametrize(("name", "message"), [("no/such/folder", "No such file"), ("x" * 200, "too long")])
def test_an_unusable_path_is_reported(path: Path, name: str, message: str) -> None:
    with pytest.raises(CannotListen, match=message):
        bind_unix(str(path.parent / name))


def test_the_socket_of_a_killed_service_is_replaced_and_shared_by_all_workers_until_the_last_ends(
    data: Path, path: Path
) -> None:
    with serving("--data", data, "--no-auth", "--uds", path) as killed:
        killed.process.kill()
        killed.process.wait()
    assert path.is_socket()
    with serving("--data", data, "--no-auth", "--uds", path, "--workers", "2") as service:
        for worker in service.workers():
            os.kill(worker, signal.SIGTERM)  # the worker ends as at the end of the run
            eventually(partial(has_ended, worker))
            assert total(path) == 2
        assert service.end() == 0
    assert not path.exists()


def test_a_file_that_replaced_the_socket_is_not_removed(path: Path) -> None:
    listener = bind_unix(str(path))
    path.unlink()
    with socket.socket(socket.AF_UNIX) as another:
        another.bind(str(path))
        listener.clean_up()
        assert path.is_socket()
    listener.sockets[0].close()

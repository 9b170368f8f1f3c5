"""`store-directory probe`."""

from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_server, socket
from threading import Thread

import pytest

from tests.program import run_here

PROBES = ("/health", "/ready")


@contextmanager
def answering(reply: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Send a reply to one connection, which is then closed; yield the address of the server, and what it received."""
    received = list[bytes]()

    def answer(listening: socket) -> None:
        connection, _ = listening.accept()
        with connection:
            received.append(connection.recv(1 << 16))
            connection.sendall(reply)

    with create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=answer, args=(listening,))
        thread.start()
        yield "http://127.0.0.1:{1}".format(*listening.getsockname()), received
        thread.join()


def reply(status: int, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status} Reason\r\nContent-Length: 0\r\n{headers}\r\n".encode()


@pytest.mark.process
@pytest.mark.parametrize("status", [200, 204])
def test_a_status_of_success_is_exit_code_0(status: int) -> None:
    with answering(reply(status)) as (address, received):
        ended = run_here("probe", f"{address}/ready?full#part", HTTP_PROXY="http://127.0.0.1:1")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{address}/ready?full#part: status {status}\n", "")
    assert received[0].startswith(b"GET /ready?full HTTP/1.1\r\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("sent", "path", "why"),
    [
        *((reply(status, "Location: /\r\n"), "/health", f"status {status}") for status in (302, 503)),
        # Only the address of --admin has them, if there is one.
        *((reply(404), path, f"status 404; with --admin, {path} is answered at that address alone") for path in PROBES),
        (reply(404), "/stores", "status 404"),
        # An address without a path: the error has that of the health check.
        *((reply(404), path, "status 404; the health check is {}/ready") for path in ("", "/")),
        (b"", "/health", "Remote end closed connection without response"),
        (b"\x1b[31mHTTP/1.1 200 OK\r\n\r\n", "/health", "\\x1b[31mHTTP/1.1 200 OK\\r\\n"),
    ],
)
def test_any_other_response_is_exit_code_1_with_the_reason(sent: bytes, path: str, why: str) -> None:
    with answering(sent) as (address, _):
        ended = run_here("probe", f"{address}{path}")
    error = f"Error: {address}{path}: {why.format(address)}\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", error)


@pytest.mark.process
def test_a_server_that_refuses_the_connection_or_sends_nothing_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.commands.probe._SECONDS", 0.01)
    with create_server(("127.0.0.1", 0)) as listening:
        address = "http://127.0.0.1:{1}".format(*listening.getsockname())
        silent = run_here("probe", address)
    refusing = run_here("probe", address)
    assert (silent.returncode, silent.stderr) == (1, f"Error: {address}: timed out\n")
    assert (refusing.returncode, refusing.stderr) == (1, f"Error: {address}: Connection refused\n")


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8080", "https://a/", "http:///ready", "http://a:port/", "http://a:0/", "http://ä/", "http://[/"],
)
def test_another_address_is_a_usage_error_that_says_what_is_expected(url: str) -> None:
    ended = run_here("probe", url)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{url!r} is not http://HOST:PORT/PATH" in ended.stderr

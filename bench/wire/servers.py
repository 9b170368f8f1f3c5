"""Servers: started on their cores, polled until ready, measured by /proc, stopped."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from bench.wire import processes, resp
from bench.wire.contender import CELL, HOME, ROOT, Contender, Protocol
from bench.wire.cores import pinned

_LOADING_SECONDS: Final = 600
_STOPPING_SECONDS: Final = 15
# Polls cost a loading server time: the pause is 1 % of the time since the start.
_FIRST_POLL_SECONDS: Final = 0.005
_POLL_SHARE: Final = 0.01
_ASK_SECONDS: Final = 60


class Failed(Exception):
    """A server did not start or did not answer as it should; the message says which and how."""


class Answer(msgspec.Struct, frozen=True):
    """A response; missing header fields are empty."""

    status: int
    media_type: str
    coding: str
    tag: str
    body: bytes


class Server(msgspec.Struct, frozen=True):
    """A server that is ready; `ready_seconds` is the time since the start of its process."""

    contender: Contender
    pid: int
    port: int
    ready_seconds: float
    loaded: processes.Memory

    def ask(self, target: str, key: str) -> Answer:
        """Send one request on a new connection."""
        return _ask(self.contender.protocol, self.port, target, key)

    def cpu_seconds(self) -> float:
        """Return the CPU time so far."""
        return processes.cpu_seconds(self.pid)


def _ask(protocol: Protocol, port: int, target: str, key: str) -> Answer:
    return _ask_http(port, target, key) if protocol is Protocol.HTTP else _ask_redis(port, target)


def _ask_redis(port: int, command: str) -> Answer:
    """Return a reply with the status that it would have in HTTP."""
    body = resp.ask(port, command, _ASK_SECONDS)
    status = HTTPStatus.INTERNAL_SERVER_ERROR if resp.is_error(body) else HTTPStatus.OK
    return Answer(status=status, media_type="", coding="", tag="", body=body)


def _ask_http(port: int, target: str, key: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ASK_SECONDS)
    try:
        path, body, *fields = [*target.split(CELL), ""]
        sent = {"x-api-key": key, **dict(field.split(": ", 1) for field in fields if field)}
        connection.request("POST" if body else "GET", path, body.encode() or None, sent)
        response = connection.getresponse()
        headers = response.headers
        return Answer(
            status=response.status,
            media_type=headers.get("Content-Type", ""),
            coding=headers.get("Content-Encoding", ""),
            tag=headers.get("ETag", ""),
            body=response.read(),
        )
    finally:
        connection.close()


@contextmanager
def running(contender: Contender, *cores: int) -> Iterator[Server]:
    """Yield a contender's server, ready and on its cores; stop it at the end. Raises `Failed`."""
    port = free_port()
    log = HOME / "logs" / f"{contender.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
            pinned(contender.command(port), *cores), cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        )
        try:
            _await_ready(contender, process, port, log)
            ready = time.perf_counter() - started
            yield Server(contender, process.pid, port, ready, processes.memory(process.pid))
        finally:
            _stop(process)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _await_ready(contender: Contender, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    started = time.monotonic()
    while not _is_ready(contender, port):
        if process.poll() is not None:
            raise Failed(f"{contender.name} ended with {process.returncode}: {log.read_text('utf-8')[-500:].strip()}")
        waited = time.monotonic() - started
        if waited > _LOADING_SECONDS:
            raise Failed(f"{contender.name} was not ready within {_LOADING_SECONDS} s: see {log}")
        time.sleep(max(_FIRST_POLL_SECONDS, waited * _POLL_SHARE))


def _is_ready(contender: Contender, port: int) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return _ask(contender.protocol, port, contender.ready, "").status < HTTPStatus.INTERNAL_SERVER_ERROR
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and its descendants, which are one session."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOPPING_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

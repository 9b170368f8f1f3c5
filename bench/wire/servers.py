"""Servers: started on their cores, polled until ready, stopped."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException
from typing import Final

import msgspec

from bench.wire import processes
from bench.wire.contender import HOME, ROOT, Contender, Response
from bench.wire.cores import pinned

_LOADING_SECONDS: Final = 600
_STOPPING_SECONDS: Final = 15
# Polls cost a loading server time: the pause is 1 % of the time since the start.
_FIRST_POLL_SECONDS: Final = 0.005
_POLL_SHARE: Final = 0.01


class Failed(Exception):
    """A server did not start or did not respond as it should; the message says which and how."""


class Server(msgspec.Struct, frozen=True):
    """A server that is ready; `ready_seconds` is the time since the start of its process."""

    contender: Contender
    pid: int
    port: int
    ready_seconds: float
    loaded: processes.Memory

    def fetch(self, target: str, key: str = "") -> Response:
        """Send one request on a new connection."""
        return self.contender.fetch(self.port, target, key)

    def cpu_seconds(self) -> float:
        """Return the CPU time so far."""
        return processes.cpu_seconds(self.pid)


@contextmanager
def running(contender: Contender, *cores: int) -> Iterator[Server]:
    """Yield a contender's server, ready and on its cores; stop it at the end. Raises `Failed`."""
    port, log = free_port(), HOME / "logs" / f"{contender.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
            pinned(contender.command(port), *cores), cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        )
        try:
            while not _is_ready(contender, port):
                if process.poll() is not None:
                    tail = log.read_text("utf-8")[-500:].strip()
                    raise Failed(f"{contender.name} exited with {process.returncode}: {tail}")
                waited = time.perf_counter() - started
                if waited > _LOADING_SECONDS:
                    raise Failed(f"{contender.name} was not ready within {_LOADING_SECONDS} s: see {log}")
                time.sleep(max(_FIRST_POLL_SECONDS, waited * _POLL_SHARE))
            ready = time.perf_counter() - started
            yield Server(contender, process.pid, port, ready, processes.memory(process.pid))
        finally:
            _stop(process)


def free_port() -> int:
    """Return an unused port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _is_ready(contender: Contender, port: int) -> bool:
    with suppress(OSError, HTTPException):
        return contender.fetch(port, contender.ready, "").status < HTTPStatus.INTERNAL_SERVER_ERROR
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and its descendants, which are one session."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOPPING_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

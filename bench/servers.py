"""Servers that are measured: how each is started on its cores, polled until it is ready, asked and stopped."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

import click
import msgspec

from bench import processes
from bench.report import ROOT
from bench.shapes import KEY, Shape
from service import __version__

HOME: Final = ROOT / "bench" / "data"
HOST: Final = "127.0.0.1"
# Separates a target, its body, with which it is a POST request, and its header fields; none of these contains it.
CELL: Final = "\t"
_TOOLS: Final = {"taskset": "util-linux", "wrk": "wrk"}
_SECONDS: Final = 60
_LOADING_SECONDS: Final = 600
_STOPPING_SECONDS: Final = 15
# Polls cost a loading server time: the pause is 1 % of the time since the start.
_FIRST_POLL_SECONDS: Final = 0.005
_POLL_SHARE: Final = 0.01


class Failed(click.ClickException):
    """A server is missing, did not start or did not respond as it should; the message says which and how."""


class Unsupported(Exception):
    """A contender does not support a shape; the message says why."""


class Response(msgspec.Struct, frozen=True):
    """A response; missing header fields are empty."""

    status: int
    media_type: str = ""
    coding: str = ""
    tag: str = ""
    body: bytes = b""


def same_targets(shape: Shape) -> list[str]:
    """Return the targets for a contender with the interface of the service."""
    requests = ((each.target, [f"{name}: {value}" for name, value in each.fields]) for each in shape.requests)
    return [CELL.join((target, "", *fields)) if fields else target for target, fields in requests]


def fetch(port: int, target: str, key: str) -> Response:
    """Send one HTTP request on a new connection. Raises OSError, HTTPException."""
    path, body, *fields = [*target.split(CELL), ""]
    sent = {"x-api-key": key, **dict(field.split(": ", 1) for field in fields if field)}
    with closing(HTTPConnection(HOST, port, timeout=_SECONDS)) as connection:
        connection.request("POST" if body else "GET", path, body.encode() or None, sent)
        response = connection.getresponse()
        media_type, coding, tag = (response.headers.get(n, "") for n in ("Content-Type", "Content-Encoding", "ETag"))
        return Response(response.status, media_type, coding, tag, response.read())


class Contender(msgspec.Struct, frozen=True):
    """A server that can be measured.

    command  its command line for a port
    ready    a target that it answers once it is ready
    targets  the request targets of a shape, with body and header fields in further cells; raises `Unsupported`
    notes    how it differs from the service
    """

    name: str
    version: str
    command: Callable[[int], list[str]]
    ready: str
    targets: Callable[[Shape], list[str]] = same_targets
    notes: str = ""


def service(data: Path, *options: str) -> Contender:
    """Return this service over a data set: anything that `serve --data` accepts; with more options."""
    serve = [sys.executable, "-m", "service", "serve", "--data", str(data), "--api-key", KEY, "--host", HOST]
    serve += ["--cache", str(HOME / "cache")]
    name = ", ".join(("store-directory", "files" if data.is_dir() else "one file", *filter(None, [" ".join(options)])))
    return Contender(name, __version__, lambda port: [*serve, "--port", str(port), *options], "/ready")


class Server(msgspec.Struct, frozen=True):
    """A server that is ready; `ready_seconds` is the time since the start of its process."""

    contender: Contender
    pid: int
    port: int
    ready_seconds: float
    loaded: processes.Memory

    def fetch(self, target: str, key: str = KEY) -> Response:
        """Send one request on a new connection."""
        return fetch(self.port, target, key)

    def cpu_seconds(self) -> float:
        """Return the CPU time so far."""
        return processes.cpu_seconds(self.pid)

    def workers(self) -> list[int]:
        """Return the serving processes: the children of the one that was started, or itself if it has none."""
        _, *children = processes.family(self.pid)
        return children or [self.pid]


@contextmanager
def running(contender: Contender, *cores: int) -> Iterator[Server]:
    """Yield a contender's server, ready and on its cores; stop it at the end. Raises `Failed`."""
    port, log = free_port(), HOME / "logs" / f"{contender.name[:80].replace('/', '|')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
            pinned(contender.command(port), *cores), cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        )
        try:
            while not _is_ready(contender, port):
                waited = time.perf_counter() - started
                if process.poll() is not None or waited > _LOADING_SECONDS:
                    tail = log.read_text("utf-8")[-500:].strip()
                    raise Failed(f"{contender.name} exited with {process.poll()} after {waited:.0f} s: {tail}")
                time.sleep(max(_FIRST_POLL_SECONDS, waited * _POLL_SHARE))
            ready = time.perf_counter() - started
            yield Server(contender, process.pid, port, ready, processes.memory(process.pid))
        finally:
            _stop(process)


def free_port() -> int:
    """Return an unused port."""
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _is_ready(contender: Contender, port: int) -> bool:
    with suppress(OSError, HTTPException):
        return fetch(port, contender.ready, "").status < HTTPStatus.INTERNAL_SERVER_ERROR
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and its descendants, which are one session."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOPPING_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def split_cores() -> tuple[int, int]:
    """Return the core of the servers and that of the load, and move this process to the latter.

    A SIGTERM stops the servers, too, from then on. Raises `Failed` if a tool is missing or there is only one core.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            raise Failed(f"{tool} is missing: install it, on Debian with `apt-get install {package}`")
    load, *others = sorted(os.sched_getaffinity(0))
    if not others:
        raise Failed("there is only one core: one is needed for the servers, one for the load")
    os.sched_setaffinity(0, {load})
    return others[-1], load


def pinned(command: list[str], *cores: int) -> list[str]:
    """Return the command that runs `command` on some cores."""
    return ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]

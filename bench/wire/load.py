"""Load: wrk, or the program of a contender, on its own core, sends the targets of a shape in a loop."""

import subprocess
import sys
from pathlib import Path
from random import randrange
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from bench.wire.contender import ROOT, Response
from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server
from bench.wire.shapes import Shape

_SCRIPT: Final = str(Path(__file__).with_name("wrk.lua"))
_TIMEOUT_SECONDS: Final = 60
_OK: Final = 200
_FIRST_ERROR: Final = 400


class Workload(msgspec.Struct, frozen=True):
    """The requests to a server: targets, the key, and the expected status and content coding."""

    server: Server
    targets: list[str]
    key: str
    status: int
    coding: str

    @classmethod
    def of(cls, shape: Shape, server: Server) -> "Workload":
        """Return the requests of a shape to a server. Raises `Unsupported`."""
        return cls(server, server.contender.targets(shape), shape.key, shape.status, shape.coding)

    def fetch(self, target: str) -> Response:
        """Return the response to one of the targets. Raises `Failed` for another status or coding."""
        got = self.server.fetch(target, self.key)
        if (got.status, got.coding) != (self.status, self.coding):
            name = self.server.contender.name
            raise Failed(f"{name} returned {got.status} {got.coding} for {target!r}: {got.body[:200]!r}")
        return got


class LoadGenerator(msgspec.Struct, frozen=True):
    """The load: its core, the number of connections, the seconds of a run."""

    core: int
    connections: int
    seconds: int


class _Summary(msgspec.Struct, frozen=True):
    """The output of wrk.lua and of other load programs."""

    requests: int
    microseconds: int
    errors: int
    median_microseconds: int
    broken: int = 0
    unexpected: int = 0


class Run(msgspec.Struct, frozen=True):
    """One run against one server: microseconds of CPU time per request, and what it served."""

    cpu_microseconds: float
    requests_per_second: float
    requests: int
    median_microseconds: int


def generate_load(load: LoadGenerator, workload: Workload) -> Run:
    """Send requests to a server. Raises `Failed` if a connection breaks or a status is wrong."""
    before = workload.server.cpu_seconds()
    summary = _run(load, workload)
    taken = workload.server.cpu_seconds() - before
    _check(workload, summary)
    return Run(
        cpu_microseconds=1e6 * taken / summary.requests,
        requests_per_second=1e6 * summary.requests / summary.microseconds,
        requests=summary.requests,
        median_microseconds=summary.median_microseconds,
    )


def _run(load: LoadGenerator, workload: Workload) -> _Summary:
    # From another start in each run, so that runs do not repeat the first targets only.
    start = randrange(len(workload.targets))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "targets"
        file.write_text("\n".join((*workload.targets[start:], *workload.targets[:start], "")), "utf-8")
        command = pinned(_command(load, workload, str(file)), load.core)
        timeout = load.seconds + _TIMEOUT_SECONDS
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=timeout, check=False)  # noqa: S603 - our own
    if finished.returncode:
        raise Failed(f"the load on {workload.server.contender.name} failed: {finished.stderr[-500:]!r}")
    return msgspec.json.decode(finished.stdout.splitlines()[-1], type=_Summary)


def _command(load: LoadGenerator, workload: Workload, file: str) -> list[str]:
    port, module = workload.server.port, workload.server.contender.load_module
    if module:
        return [sys.executable, "-m", module, str(port), file, str(load.connections), str(load.seconds)]
    options = ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", f"--timeout={_TIMEOUT_SECONDS}s"]
    # To check each response costs the load time; without it, wrk only counts errors.
    is_checked = workload.coding or _OK < workload.status < _FIRST_ERROR
    expected = [str(workload.status), workload.coding] if is_checked else []
    return ["wrk", *options, "-s", _SCRIPT, f"http://127.0.0.1:{port}", "--", file, workload.key, *expected]


def _check(workload: Workload, summary: _Summary) -> None:
    name, requests = workload.server.contender.name, summary.requests
    if not requests:
        raise Failed(f"{name} answered nothing in {summary.microseconds / 1e6:.0f} s")
    if summary.broken or summary.errors != (requests if workload.status >= _FIRST_ERROR else 0):
        raise Failed(f"{name}: {summary.broken} broken connections and {summary.errors} errors in {requests} requests")
    if summary.unexpected:
        expected = f"{workload.status} {workload.coding}"
        raise Failed(f"{name}: {summary.unexpected} of {requests} responses are not {expected}")

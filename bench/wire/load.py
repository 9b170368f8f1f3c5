"""Load: wrk on its own core, walking through the targets of a shape."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server

_WALK: Final = str(Path(__file__).with_name("walk.lua"))
_PATIENCE_SECONDS: Final = 60
_FIRST_ERROR: Final = 400


class Questions(msgspec.Struct, frozen=True):
    """What a server is asked: targets, the key they carry, and the status of every answer."""

    targets: list[str]
    key: str
    status: int


class Driver(msgspec.Struct, frozen=True):
    """How servers are driven: from which core, over how many connections, for how many seconds at a time."""

    core: int
    connections: int
    seconds: int


class _Summary(msgspec.Struct, frozen=True):
    """What walk.lua prints at the end."""

    requests: int
    microseconds: int
    bytes: int
    refused: int
    broken: int
    median_microseconds: int


class Run(msgspec.Struct, frozen=True):
    """One run against one server: microseconds of its CPU for a request, and what it served."""

    cpu_microseconds: float
    requests_per_second: float
    requests: int
    median_microseconds: int


def drive(driver: Driver, server: Server, questions: Questions) -> Run:
    """Drive a server and return what it did. Raises `Failed` where it broke off or answered another status."""
    before = server.cpu_seconds()
    summary = _wrk(driver, server, questions)
    taken = server.cpu_seconds() - before
    _check(server.contender.name, questions, summary)
    return Run(
        cpu_microseconds=1e6 * taken / summary.requests,
        requests_per_second=1e6 * summary.requests / summary.microseconds,
        requests=summary.requests,
        median_microseconds=summary.median_microseconds,
    )


def _wrk(driver: Driver, server: Server, questions: Questions) -> _Summary:
    options = ["-t1", f"-c{driver.connections}", f"-d{driver.seconds}s", f"--timeout={_PATIENCE_SECONDS}s"]
    with TemporaryDirectory() as folder:
        targets = Path(folder) / "targets"
        targets.write_text("".join(f"{target}\n" for target in questions.targets), "utf-8")
        arguments = [f"http://127.0.0.1:{server.port}", "--", str(targets), questions.key]
        finished = subprocess.run(  # noqa: S603 - the command is this bench's own
            pinned(["wrk", *options, "-s", _WALK, *arguments], driver.core),
            capture_output=True,
            timeout=driver.seconds + _PATIENCE_SECONDS,
            check=True,
        )
    return msgspec.json.decode(finished.stdout.splitlines()[-1], type=_Summary)


def _check(name: str, questions: Questions, summary: _Summary) -> None:
    if not summary.requests:
        raise Failed(f"{name} answered nothing in {summary.microseconds / 1e6:.0f} s")
    expected = summary.requests if questions.status >= _FIRST_ERROR else 0
    if summary.broken or summary.refused != expected:
        raise Failed(f"{name} broke {summary.broken} and refused {summary.refused} of {summary.requests} requests")

"""Load: wrk on its own core, walking through the targets of a shape; for Redis a load of our own."""

import subprocess
import sys
from pathlib import Path
from random import randrange
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from bench.wire.contender import ROOT, Protocol
from bench.wire.cores import pinned
from bench.wire.servers import Answer, Failed, Server
from bench.wire.shapes import Shape

_WALK: Final = str(Path(__file__).with_name("walk.lua"))
_TIMEOUT_SECONDS: Final = 60
_OK: Final = 200
_FIRST_ERROR: Final = 400


class Questions(msgspec.Struct, frozen=True):
    """The requests to a server: targets, the key, and the expected status and content coding."""

    targets: list[str]
    key: str
    status: int
    coding: str

    @classmethod
    def of(cls, shape: Shape, server: Server) -> "Questions":
        """Return the requests of a shape to a server. Raises `Cannot`."""
        return cls(server.contender.targets(shape), shape.key, shape.status, shape.coding)

    @property
    def watched(self) -> bool:
        """Whether the load checks each response, which takes it time: wrk itself only counts errors."""
        return bool(self.coding) or _OK < self.status < _FIRST_ERROR

    def ask(self, server: Server, target: str) -> Answer:
        """Return the response to one of the targets. Raises `Failed` for another status or coding."""
        answer = server.ask(target, self.key)
        if (answer.status, answer.coding) != (self.status, self.coding):
            description = _description(answer.status, answer.coding)
            raise Failed(f"{server.contender.name} answered {description} to {target!r}: {answer.body[:200]!r}")
        return answer


def _description(status: int, coding: str) -> str:
    return f"{status} in {coding}" if coding else str(status)


class Driver(msgspec.Struct, frozen=True):
    """The load: its core, the number of connections, the seconds of a run."""

    core: int
    connections: int
    seconds: int


class _Summary(msgspec.Struct, frozen=True):
    """The output of walk.lua, and of the load on Redis."""

    requests: int
    microseconds: int
    bytes: int
    refused: int
    broken: int
    strange: int
    median_microseconds: int


class Run(msgspec.Struct, frozen=True):
    """One run against one server: microseconds of CPU time per request, and what it served."""

    cpu_microseconds: float
    requests_per_second: float
    requests: int
    median_microseconds: int


def drive(driver: Driver, server: Server, questions: Questions) -> Run:
    """Run the load against a server. Raises `Failed` if a connection breaks or a status is wrong."""
    before = server.cpu_seconds()
    summary = _summary(driver, server, questions)
    taken = server.cpu_seconds() - before
    _check(server.contender.name, questions, summary)
    return Run(
        cpu_microseconds=1e6 * taken / summary.requests,
        requests_per_second=1e6 * summary.requests / summary.microseconds,
        requests=summary.requests,
        median_microseconds=summary.median_microseconds,
    )


def _summary(driver: Driver, server: Server, questions: Questions) -> _Summary:
    """Run wrk, or the load on Redis."""
    make = _wrk if server.contender.protocol is Protocol.HTTP else _resp
    with TemporaryDirectory() as folder:
        targets = Path(folder) / "targets"
        targets.write_text("".join(f"{target}\n" for target in _from_anywhere(questions.targets)), "utf-8")
        finished = subprocess.run(  # noqa: S603 - the command is this bench's own
            pinned(make(driver, server.port, questions, targets), driver.core),
            cwd=ROOT,
            capture_output=True,
            timeout=driver.seconds + _TIMEOUT_SECONDS,
            check=True,
        )
    return msgspec.json.decode(finished.stdout.splitlines()[-1], type=_Summary)


def _from_anywhere(targets: list[str]) -> list[str]:
    """Return the same loop of targets from another start, so that runs do not repeat the first ones only."""
    start = randrange(len(targets))
    return targets[start:] + targets[:start]


def _wrk(driver: Driver, port: int, questions: Questions, targets: Path) -> list[str]:
    options = ["-t1", f"-c{driver.connections}", f"-d{driver.seconds}s", f"--timeout={_TIMEOUT_SECONDS}s"]
    watched = [str(questions.status), questions.coding] if questions.watched else []
    arguments = [f"http://127.0.0.1:{port}", "--", str(targets), questions.key, *watched]
    return ["wrk", *options, "-s", _WALK, *arguments]


def _resp(driver: Driver, port: int, _: Questions, targets: Path) -> list[str]:
    numbers = (str(driver.connections), str(driver.seconds))
    return [sys.executable, "-m", "bench.wire.resp_load", str(port), str(targets), *numbers]


def _check(name: str, questions: Questions, summary: _Summary) -> None:
    if not summary.requests:
        raise Failed(f"{name} answered nothing in {summary.microseconds / 1e6:.0f} s")
    expected = summary.requests if questions.status >= _FIRST_ERROR else 0
    if summary.broken or summary.refused != expected:
        raise Failed(f"{name} broke {summary.broken} and refused {summary.refused} of {summary.requests} requests")
    if summary.strange:
        wanted = _description(questions.status, questions.coding)
        raise Failed(f"{name} did not answer {wanted} to {summary.strange} of {summary.requests} requests")

"""Load: wrk, on its own core, sends the targets of a shape in a loop; servers are compared in turn: A B C A B C."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import randrange
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from bench.report import ROOT, Spread
from bench.servers import HOST, Failed, Response, Server, pinned
from bench.shapes import KEY, Bound, Shape

_SCRIPT: Final = str(Path(__file__).with_name("wrk.lua"))
_TIMEOUT_SECONDS: Final = 60
_PROBES: Final = 20
_OK: Final = 200


class Workload(msgspec.Struct, frozen=True):
    """The requests to a server: targets, and the expected status and content coding."""

    server: Server
    targets: list[str]
    status: int
    coding: str

    @classmethod
    def of(cls, shape: Shape, server: Server) -> "Workload":
        """Return the requests of a shape to a server. Raises `Unsupported`."""
        return cls(server, server.contender.targets(shape), shape.status, shape.coding)

    def fetch(self, target: str) -> Response:
        """Return the response to one of the targets. Raises `Failed` for another status or coding."""
        got = self.server.fetch(target)
        if (got.status, got.coding) != (self.status, self.coding):
            name = self.server.contender.name
            raise Failed(f"{name} returned {got.status} {got.coding} for {target!r}: {got.body[:200]!r}")
        return got


class LoadGenerator(msgspec.Struct, frozen=True):
    """The load: its core, the number of connections, the seconds of a run."""

    core: int
    connections: int
    seconds: int


class Run(msgspec.Struct, frozen=True):
    """One run against one server: microseconds of CPU time per request, and what it served."""

    cpu_microseconds: float
    requests_per_second: float
    requests: int


def generate_load(load: LoadGenerator, workload: Workload) -> Run:
    """Send requests to a server. Raises `Failed` if there is no answer, a connection breaks or a status is wrong."""
    before = workload.server.cpu_seconds()
    summary = _run(load, workload)
    taken, requests = workload.server.cpu_seconds() - before, summary["requests"]
    if not requests or any(summary[wrong] for wrong in ("broken", "errors", "unexpected")):
        name = workload.server.contender.name
        raise Failed(f"{name}: {summary}, where all were to be {workload.status} {workload.coding}")
    return Run(1e6 * taken / requests, 1e6 * requests / summary["microseconds"], requests)


def _run(load: LoadGenerator, workload: Workload) -> dict[str, int]:
    # From another start in each run, so that runs do not repeat the first targets only.
    start = randrange(len(workload.targets))
    options = ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", f"--timeout={_TIMEOUT_SECONDS}s", "-s", _SCRIPT]
    # To check each response costs the load time; without it, wrk only counts errors.
    is_checked = workload.coding or workload.status != _OK
    expected = [str(workload.status), workload.coding] if is_checked else []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "targets"
        file.write_text("\n".join((*workload.targets[start:], *workload.targets[:start], "")), "utf-8")
        url = f"http://{HOST}:{workload.server.port}"
        command = pinned(["wrk", *options, url, "--", str(file), KEY, *expected], load.core)
        timeout = load.seconds + _TIMEOUT_SECONDS
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=timeout, check=False)  # noqa: S603 - our own
    if finished.returncode:
        raise Failed(f"the load on {workload.server.contender.name} failed: {finished.stderr[-500:]!r}")
    return msgspec.json.decode(finished.stdout.splitlines()[-1], type=dict[str, int])


class Pair(msgspec.Struct, frozen=True):
    """A run of the service, and a run of another server in the same round."""

    ours: Run
    theirs: Run


class Comparison(msgspec.Struct, frozen=True):
    """The service and another server on one shape: pairs of runs."""

    shape: str
    other: str
    pairs: list[Pair]
    bound: Bound | None = None

    @property
    def cpu_ratio(self) -> Spread:
        """The other's CPU time for a request over ours, pair by pair."""
        return Spread.of(pair.theirs.cpu_microseconds / pair.ours.cpu_microseconds for pair in self.pairs)

    @property
    def rate_ratio(self) -> Spread:
        """Our requests per second over the other's, pair by pair."""
        return Spread.of(pair.ours.requests_per_second / pair.theirs.requests_per_second for pair in self.pairs)

    def medians(self, figure: str) -> tuple[float, float]:
        """Return the medians of a figure of the runs, ours and theirs."""
        pairs = [(getattr(pair.ours, figure), getattr(pair.theirs, figure)) for pair in self.pairs]
        ours, theirs = map(median, zip(*pairs, strict=True))
        return ours, theirs

    @property
    def missed(self) -> str:
        """The bound that is missed, if any."""
        if self.bound is None:
            return ""
        what, value = {
            "cpu_ratio": (f"{self.other} over service", self.cpu_ratio.median),
            "rate_ratio": (f"service over {self.other}", self.rate_ratio.median),
            "cpu_microseconds": ("CPU µs", self.medians("cpu_microseconds")[0]),
        }[self.bound.figure]
        return "" if self.bound.allows(value) else f"{what} is {value:,.2f}, {self.bound}"


def compare(load: LoadGenerator, shape: Shape, ours: Server, others: Sequence[Server], rounds: int) -> list[Comparison]:
    """Run the service and other servers in turn on a shape, after checking some responses and warming up each.

    Each round is a pair with each other server. Raises `Unsupported` if one does not support the shape, `Failed` if a
    server fails.
    """
    workloads = [Workload.of(shape, server) for server in (ours, *others)]
    for each in workloads:
        for target in each.targets[:_PROBES]:
            each.fetch(target)
        generate_load(msgspec.structs.replace(load, seconds=1), each)
    runs = [[generate_load(load, each) for each in workloads] for _ in range(rounds)]
    our_runs, *their_runs = zip(*runs, strict=True)
    return [
        Comparison(shape.slug, other.contender.name, list(map(Pair, our_runs, each)))
        for other, each in zip(others, their_runs, strict=True)
    ]

"""The results of pytest-benchmark as two tables: steps and shapes by sizes, and steps of a request by shapes."""

from collections.abc import Sequence

import msgspec

from bench.markdown import table
from bench.wire.machine import Surroundings


class Case(msgspec.Struct, frozen=True):
    """The parameters of a benchmark: the step, the number of stores, the shape of the queries."""

    step: str
    stores: int
    shape: str


class Stats(msgspec.Struct, frozen=True):
    """Seconds of the rounds."""

    min: float
    median: float
    max: float
    rounds: int


class Extra(msgspec.Struct, frozen=True):
    """The number of requests in a round."""

    requests: int = 1


class Benchmark(msgspec.Struct, frozen=True):
    """A benchmark: a step on a case."""

    name: str
    params: Case
    stats: Stats
    extra_info: Extra


class Report(msgspec.Struct, frozen=True):
    """The used parts of pytest-benchmark's report."""

    machine_info: Surroundings
    benchmarks: list[Benchmark]


def markdown(report: Report) -> str:
    """Return tables of the median times: of the engine by step, shape and number of stores, and of whole requests."""
    engine = [each for each in report.benchmarks if each.name.startswith("test_engine")]
    requests = [each for each in report.benchmarks if each.name.startswith("test_request")]
    tables = [_engine(engine)] * bool(engine) + [_requests(requests)] * bool(requests)
    return "\n".join((f"{report.machine_info}\n", *tables))


def _engine(benchmarks: Sequence[Benchmark]) -> str:
    found = {(each.params.step, each.params.shape, each.params.stores): each for each in benchmarks}
    sizes = sorted({stores for _, _, stores in found})
    cases = dict.fromkeys((step, shape) for step, shape, _ in found)
    rows = ([*case, *(_time(found.get((*case, stores)), 1) for stores in sizes)] for case in cases)
    return table(("step", "shape", *(f"{stores:,} stores" for stores in sizes)), rows)


def _requests(benchmarks: Sequence[Benchmark]) -> str:
    found = {(each.params.step, each.params.shape): each for each in benchmarks}
    steps, shapes = (dict.fromkeys(names) for names in zip(*found, strict=True))
    rows = ([step, *(_time(found.get((step, shape)), 2) for shape in shapes)] for step in steps)
    return table(("step of a request", *shapes), rows)


def _time(benchmark: Benchmark | None, digits: int) -> str:
    if benchmark is None:
        return "-"
    return f"{1e6 * benchmark.stats.median / benchmark.extra_info.requests:,.{digits}f} µs"

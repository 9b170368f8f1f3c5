"""The results of pytest-benchmark as two tables: steps and shapes by sizes, and steps of a request by shapes."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bench.markdown import table
from bench.wire.machine import Surroundings

_STEPS: Final = {
    "test_parse": "parse, the first time",
    "test_parse_again": "parse, remembered",
    "test_select": "select, worked out",
    "test_select_again": "select, kept",
    "test_sort": "sort",
    "test_page": "select (kept), sort and slice",
    "test_encode": "encode",
}


_REQUEST_STEPS: Final = {
    "test_nothing": "nothing",
    "test_parse_http_again": "parse HTTP, header fields as before",
    "test_parse_http": "parse HTTP, other header fields",
    "test_route": "route",
    "test_authenticate_again": "authenticate, header fields as before",
    "test_authenticate": "authenticate, other header fields",
    "test_parameters": "parse parameters, the first time",
    "test_parameters_again": "parse parameters, cached",
    "test_identify": "identify, the first time",
    "test_identify_again": "identify, cached",
    "test_represent": "represent",
    "test_rows": "select (cached), sort and slice, or find the company",
    "test_envelope": "envelope, the first time",
    "test_envelope_again": "envelope, cached",
    "test_headers": "header fields of the response",
    "test_encode_response": "encode the response",
    "test_write": "write",
    "test_count": "count",
    "test_log": "count and log",
    "test_whole_again": "**the whole request**, header fields as before",
    "test_whole": "**the whole request**, other header fields",
}


class Case(msgspec.Struct, frozen=True):
    """The parameters of a benchmark: the number of stores, and the shape of the queries."""

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


class Bench(msgspec.Struct, frozen=True):
    """A benchmark: a step on a case."""

    name: str
    params: Case
    stats: Stats
    extra_info: Extra

    @property
    def step(self) -> str:
        """The name of the function that measured it."""
        return self.name.partition("[")[0]

    @property
    def microseconds(self) -> float:
        """The median time of a request."""
        return 1e6 * self.stats.median / self.extra_info.requests


class Report(msgspec.Struct, frozen=True):
    """The used parts of pytest-benchmark's report."""

    machine_info: Surroundings
    benchmarks: list[Bench]


def markdown(report: Report) -> str:
    """Return tables of the median times: of the engine by step, shape and number of stores, and of whole requests."""
    engine = [each for each in report.benchmarks if each.step in _STEPS]
    requests = [each for each in report.benchmarks if each.step in _REQUEST_STEPS]
    tables = [_engine(engine)] * bool(engine) + [_requests(requests)] * bool(requests)
    return "\n".join((f"{report.machine_info}\n", *tables))


def _engine(benchmarks: Sequence[Bench]) -> str:
    found = {(each.step, each.params.shape, each.params.stores): each for each in benchmarks}
    cases = dict.fromkeys((step, shape) for step, shape, _ in found)
    sizes = sorted({stores for _, _, stores in found})
    rows = (
        [_STEPS[step], shape, *(_time(found.get((step, shape, stores)), 1) for stores in sizes)]
        for step, shape in sorted(cases, key=lambda case: list(_STEPS).index(case[0]))
    )
    return table(("step", "shape", *(f"{stores:,} stores" for stores in sizes)), rows)


def _requests(benchmarks: Sequence[Bench]) -> str:
    found = {(each.step, each.params.shape): each for each in benchmarks}
    shapes = list(dict.fromkeys(shape for _, shape in found))
    steps = [step for step in _REQUEST_STEPS if any(step == measured for measured, _ in found)]
    rows = ([_REQUEST_STEPS[step], *(_time(found.get((step, shape)), 2) for shape in shapes)] for step in steps)
    return table(("step of a request", *shapes), rows)


def _time(bench: Bench | None, digits: int) -> str:
    return "-" if bench is None else f"{bench.microseconds:,.{digits}f} µs"

"""The results of pytest-benchmark as one table: steps and shapes by sizes."""

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


class Bench(msgspec.Struct, frozen=True):
    """A benchmark: a step on a case."""

    name: str
    params: Case
    stats: Stats

    @property
    def step(self) -> str:
        """The name of the function that measured it."""
        return self.name.partition("[")[0]


class Report(msgspec.Struct, frozen=True):
    """The used parts of pytest-benchmark's report."""

    machine_info: Surroundings
    benchmarks: list[Bench]


def markdown(report: Report) -> str:
    """Return a table of the median times by step, shape and number of stores."""
    found = {(each.step, each.params.shape, each.params.stores): each.stats for each in report.benchmarks}
    cases = dict.fromkeys((step, shape) for step, shape, _ in found)
    sizes = sorted({stores for _, _, stores in found})
    rows = (
        [_STEPS[step], shape, *(_times(found.get((step, shape, stores))) for stores in sizes)]
        for step, shape in sorted(cases, key=lambda case: list(_STEPS).index(case[0]))
    )
    return f"{report.machine_info}\n\n{table(('step', 'shape', *(f'{stores:,} stores' for stores in sizes)), rows)}"


def _times(stats: Stats | None) -> str:
    return "" if stats is None else f"{stats.median * 1e6:,.1f} µs"

"""The report of the benchmark over HTTP, its tables, and what a planned rate of requests takes by its figures."""

from collections.abc import Iterator, Sequence
from math import ceil, nan
from typing import Final

import msgspec

from bench.load import Comparison
from bench.processes import Memory
from bench.report import ROOT, Surroundings, table
from bench.wire.variants import LOCATED_FROM

_MIB: Final = 1 << 20
PLAN_PAGE: Final = ROOT / "docs" / "fleet.md"
_UNREPEATED: Final = "-unrepeated"
_RATE: Final = 100_000
# So that half of the machines may fail.
_USED: Final = 0.5
# The rows of the plan, with what is exhausted first.
_FIRST: Final = {
    "not-modified": "-",
    "company": "-",
    "city-zstd-cached": "-",
    "city-zstd-not-cached": "CPU",
    "city": "bandwidth",
    "radius-unrepeated": "CPU, bandwidth",
    "page": "bandwidth",
    "clusters-dense-unrepeated": "CPU",
}


class Loading(msgspec.Struct, frozen=True):
    """The start of a server: seconds from the start of its process until it was ready, and its memory then."""

    name: str
    version: str
    ready_seconds: float
    memory: Memory
    notes: str = ""


class ShapeFacts(msgspec.Struct, frozen=True):
    """A shape: its title, its number of distinct requests, the mean size of the bodies in bytes."""

    slug: str
    title: str
    requests: int
    mean_bytes: float


class Report(msgspec.Struct, frozen=True):
    """All results of a run: comparisons with the bare handler, with the floors, with peers."""

    stores: int
    companies: int
    seed: int
    seconds: int
    connections: int
    surroundings: Surroundings
    shapes: list[ShapeFacts] = []
    loadings: list[Loading] = []
    bare: list[Comparison] = []
    floors: list[Comparison] = []
    peers: list[Comparison] = []
    not_measured: list[str] = []

    @property
    def is_large(self) -> bool:
        """Whether it has all shapes, and so what is said of all sizes."""
        return self.stores >= LOCATED_FROM

    @property
    def missed(self) -> list[str]:
        """The bounds that are missed."""
        titles = {shape.slug: shape.title for shape in self.shapes}
        return [f"{titles[each.shape]}: {each.missed}" for each in (*self.bare, *self.peers) if each.missed]


def markdown(report: Report) -> str:
    """Return the report as Markdown: the surroundings, then its tables."""
    head = (
        f"{report.stores:,} stores of {report.companies:,} companies, seed {report.seed}; "
        f"runs of {report.seconds} s over {report.connections} connections. {report.surroundings}\n"
    )
    tables = [made(report) for made in (_floors, _ratios, _peers, _loadings)]
    notes = [f"{loading.name}: {loading.notes}" for loading in report.loadings if loading.notes and report.is_large]
    lines = "".join(f"- {line}\n" for line in (*notes, *report.not_measured))
    return "\n".join(filter(None, (head, *tables, lines)))


def _floors(report: Report) -> str:
    """Return a table of the CPU time of a request by server: those that answer it, and those that only send bytes."""
    if not report.floors:
        return ""
    every = (*report.bare, *report.floors)
    costs = {(each.shape, each.other): each.medians("cpu_microseconds") for each in every}
    names = ("bare", *dict.fromkeys(each.other for each in report.floors))
    titles = {shape.slug: shape.title for shape in report.shapes}
    rows = []
    for slug in dict.fromkeys(each.shape for each in report.floors):
        ours = [costs.get((of, "bare"), (nan, nan))[0] for of in (slug, slug + _UNREPEATED)]
        rows.append((titles[slug], *(f"{cost:,.1f}" for cost in (*ours, *(costs[slug, name][1] for name in names)))))
    return table(("CPU µs of a request", "service, repeated", "service, hardly ever repeated", *names), rows)


def _ratios(report: Report) -> str:
    """Return a table of the costs of each shape, repeated and hardly ever repeated."""
    costs = ("CPU µs", "bare over service", "bound")
    shapes, found = {shape.slug: shape for shape in report.shapes}, {each.shape: each for each in report.bare}
    rows = (
        (facts.title, f"{facts.mean_bytes / 1000:,.1f}", *_costs(each), *_costs(found.get(slug + _UNREPEATED)))
        for slug, each in found.items()
        for facts in [shapes[slug]]
        if not slug.endswith(_UNREPEATED)
    )
    return table(("repeated", "body, kB", *costs, "hardly ever repeated: CPU µs", *costs[1:]), rows)


def _costs(found: Comparison | None) -> Sequence[str]:
    if found is None:
        return ("-",) * 3
    ratio, (ours, _) = found.cpu_ratio, found.medians("cpu_microseconds")
    spread = f"**{ratio.median:.2f}**, {ratio.lowest:.2f}-{ratio.highest:.2f}"
    return f"{ours:,.1f}", spread, f"{found.bound or '-'}{_missed(found)}"


def _peers(report: Report) -> str:
    """Return a table of shapes by peers: requests per second, and the ratio of the service to that."""
    found = {(each.shape, each.other): each for each in report.peers}
    names = list(dict.fromkeys(name for _, name in found))
    shapes = [shape for shape in report.shapes if any(shape.slug == slug for slug, _ in found)]
    rows = ([shape.title, *(_peer(found.get((shape.slug, name))) for name in names)] for shape in shapes)
    return table(("requests/s (service over peer: median; lowest-highest)", *names), rows) if found else ""


def _peer(found: Comparison | None) -> str:
    if found is None:
        return "-"
    ratio, (_, rate) = found.rate_ratio, found.medians("requests_per_second")
    return f"{rate:,.0f} ({ratio.median:,.2f}; {ratio.lowest:,.2f}-{ratio.highest:,.2f}{_missed(found)})"


def _missed(found: Comparison) -> str:
    return ", missed" if found.missed else ""


def _loadings(report: Report) -> str:
    head = ("server", "version", "ready after", "peak memory", "memory after", "of that anonymous")
    rows = (
        (
            *(each.name, each.version, f"{each.ready_seconds:.2f} s"),
            *(f"{size / _MIB:,.0f} MiB" for size in (each.memory.peak, each.memory.resident, each.memory.anonymous)),
        )
        for each in report.loadings
    )
    return table(head, rows)


def plan(report: Report) -> str:
    """Return a table of what a rate of requests takes, by the CPU time and the size of each."""
    head = ("all requests are", "CPU µs", "cores", "body, kB", "Gbit/s", "first exhausted")
    return table(head, _planned(report))


def _planned(report: Report) -> Iterator[Sequence[str]]:
    costs = {each.shape: each.medians("cpu_microseconds")[0] for each in report.bare}
    facts = {shape.slug: shape for shape in report.shapes}
    for slug, first in _FIRST.items():
        cores, bits = costs[slug] * _RATE / 1e6 / _USED, facts[slug].mean_bytes * 8 * _RATE
        body = f"{facts[slug].mean_bytes / 1e3:,.1f}"
        yield facts[slug].title, f"{costs[slug]:,.1f}", f"{ceil(cores):,}", body, f"{bits / 1e9:,.1f}", first

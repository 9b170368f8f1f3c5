"""The report of the benchmark over HTTP, and its tables."""

from collections.abc import Sequence
from math import nan
from typing import Final

import msgspec

from bench.markdown import table
from bench.wire.comparison import Comparison
from bench.wire.machine import Surroundings
from bench.wire.processes import Memory

_MIB: Final = 1 << 20


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
    """All results of a run: comparisons with the upper bounds and the floors, with an access log, with peers."""

    stores: int
    companies: int
    seed: int
    seconds: int
    connections: int
    surroundings: Surroundings
    shapes: list[ShapeFacts] = []
    loadings: list[Loading] = []
    bare: list[Comparison] = []
    low_level: list[Comparison] = []
    floors: list[Comparison] = []
    logged: list[Comparison] = []
    peers: list[Comparison] = []
    not_measured: list[str] = []

    @property
    def missed(self) -> list[str]:
        """The bounds that are missed."""
        titles = {shape.slug: shape.title for shape in self.shapes}
        every = (*self.bare, *self.logged, *self.peers)
        return [f"{titles[each.shape]}: {each.missed}" for each in every if each.missed]


def markdown(report: Report) -> str:
    """Return the report as Markdown: the surroundings, then its tables."""
    head = (
        f"{report.stores:,} stores of {report.companies:,} companies, seed {report.seed}; "
        f"runs of {report.seconds} s over {report.connections} connections. {report.surroundings}\n"
    )
    compared = {"bare": report.bare, "low-level": report.low_level, "logged": report.logged}
    tables = [_floors(report)] if report.floors else []
    tables += [_ratios(report, name, comparisons) for name, comparisons in compared.items() if comparisons]
    tables += [_peers(report)] if report.peers else []
    notes = [f"{loading.name}: {loading.notes}" for loading in report.loadings if loading.notes]
    missed = [f"Bound missed: {miss}." for miss in report.missed]
    lines = "".join(f"- {line}\n" for line in (*notes, *report.not_measured, *missed))
    return "\n".join((head, *tables, _loadings(report), lines))


def _floors(report: Report) -> str:
    """Return a table of the CPU time of a request by server: those that answer it, and those that only send bytes."""
    every = [
        *((each, each.other) for each in (*report.bare, *report.floors)),
        *((e, "low-level") for e in report.low_level),
    ]
    costs = {(each.shape, name): each.medians("cpu_microseconds") for each, name in every}
    names = ("bare", "low-level", *dict.fromkeys(each.other for each in report.floors))
    titles, measured = {shape.slug: shape.title for shape in report.shapes}, {each.shape for each in report.floors}
    rows = []
    for slug in (slug for slug in titles if slug in measured):
        ours = [costs.get((of, "bare"), (nan, nan))[0] for of in (slug, f"{slug}-unrepeated")]
        rows.append((titles[slug], *(f"{cost:,.1f}" for cost in (*ours, *(costs[slug, name][1] for name in names)))))
    return table(("CPU µs of a request", "service, repeated", "service, hardly ever repeated", *names), rows)


def _ratios(report: Report, name: str, comparisons: Sequence[Comparison]) -> str:
    is_logged = name == "logged"
    ratio = f"{name} less service, µs" if is_logged else f"{name} over service"
    costs = ("CPU µs", f"{name} CPU µs", ratio, "from", "to", "bound")
    head = ("shape", "distinct requests", "mean body", *costs, "requests/s", f"{name} requests/s")
    shapes = {shape.slug: shape for shape in report.shapes}
    rows = (
        (
            *_facts(shapes[each.shape]),
            *(f"{cost:,.1f}" for cost in each.medians("cpu_microseconds")),
            *(*(each.cpu_added if is_logged else each.cpu_ratio).cells(), str(each.bound or "-")),
            *(f"{rate:,.0f}" for rate in each.medians("requests_per_second")),
        )
        for each in comparisons
    )
    return table(head, rows)


def _facts(shape: ShapeFacts) -> Sequence[str]:
    return (shape.title, f"{shape.requests:,}", f"{shape.mean_bytes / 1000:,.1f} kB")


def _peers(report: Report) -> str:
    """Return a table of shapes by peers: requests per second, and the ratio of the service to that."""
    found = {(each.shape, each.other): each for each in report.peers}
    names = list(dict.fromkeys(name for _, name in found))
    shapes = [shape for shape in report.shapes if any(shape.slug == slug for slug, _ in found)]
    rows = ([shape.title, *(_peer(found.get((shape.slug, name))) for name in names)] for shape in shapes)
    return table(("requests/s (service over peer: median; lowest to highest)", *names), rows)


def _peer(found: Comparison | None) -> str:
    if found is None:
        return "-"
    ratio, (_, rate) = found.rate_ratio, found.medians("requests_per_second")
    return f"{rate:,.0f} ({ratio.median:,.2f}; {ratio.lowest:,.2f} to {ratio.highest:,.2f})"


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

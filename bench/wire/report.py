"""The report of a benchmark over HTTP, and its tables."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from bench.markdown import table
from bench.wire.machine import Surroundings
from bench.wire.measure import Contest
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
    """A shape: its title, its number of distinct requests, the mean size of the bodies in bytes.

    `least` is the lower bound for the median of bare over service, `most` the upper bound for that of the service with
    an access log over the service without, `most_cpu` that for the CPU time of a request in microseconds; 0 if there is
    none.
    """

    slug: str
    title: str
    requests: int
    mean_bytes: float
    least: float
    most: float
    most_cpu: float


class Report(msgspec.Struct, frozen=True):
    """All results of a run.

    `ceilings` are contests with the bare handler, `low_level` with the low-level server, `logged` with an access log.
    """

    stores: int
    companies: int
    seed: int
    seconds: int
    connections: int
    surroundings: Surroundings
    shapes: list[ShapeFacts]
    loadings: list[Loading]
    ceilings: list[Contest]
    low_level: list[Contest]
    logged: list[Contest]
    peers: list[Contest]
    lacks: list[str]

    @property
    def missed(self) -> list[str]:
        """The bounds that are missed."""
        ceilings, logged, peers = (_with_shapes(self, found) for found in (self.ceilings, self.logged, self.peers))
        return [
            *(
                f"{shape.title}: bare over service is {found.cpu_ratio.median:.2f}"
                for shape, found in ceilings
                if found.cpu_ratio.median < shape.least
            ),
            *(
                f"{shape.title}: {found.ours.cpu_microseconds.median:,.0f} µs"
                for shape, found in ceilings
                if 0 < shape.most_cpu < found.ours.cpu_microseconds.median
            ),
            *(
                f"{shape.title}: logged over service is {found.cpu_ratio.median:.2f}"
                for shape, found in logged
                if found.cpu_ratio.median > shape.most
            ),
            *(
                f"{shape.title}: service over {found.other} is {found.rate_ratio.median:,.2f}, not {found.least:g}"
                for shape, found in peers
                if found.rate_ratio.median < found.least
            ),
        ]


def markdown(report: Report) -> str:
    """Return the report as Markdown: the surroundings, then its tables."""
    ratios = (_ceilings(report), _low_level(report), _logged(report))
    parts = [_surroundings(report), *ratios, _peers(report), _loadings(report)]
    notes = [f"{loading.name}: {loading.notes}" for loading in report.loadings if loading.notes]
    missed = [f"Bound missed: {miss}." for miss in report.missed]
    parts.append("".join(f"- {line}\n" for line in [*notes, *report.lacks, *missed]))
    return "\n".join(part for part in parts if part)


def _surroundings(report: Report) -> str:
    return (
        f"{report.stores:,} stores of {report.companies:,} companies, seed {report.seed}; "
        f"runs of {report.seconds} s over {report.connections} connections. "
        f"{report.surroundings}\n"
    )


def _ceilings(report: Report) -> str:
    costs, rates = _cost_heads("bare"), _rate_heads("bare")
    rows = [
        (
            *(shape.title, f"{shape.requests:,}", f"{shape.mean_bytes / 1000:,.1f} kB", *_costs(found)),
            *(_bound(shape), *_rates(found)),
        )
        for shape, found in _with_shapes(report, report.ceilings)
    ]
    return table(("shape", "distinct requests", "mean body", *costs, "bound", *rates), rows) if rows else ""


def _bound(shape: ShapeFacts) -> str:
    if shape.most_cpu:
        return f"at most {shape.most_cpu:,.0f} µs"
    return f"at least {shape.least:.2f}" if shape.least else "-"


def _low_level(report: Report) -> str:
    costs, rates = _cost_heads("low-level"), _rate_heads("low-level")
    found = _with_shapes(report, report.low_level)
    rows = [(shape.title, *_costs(each), *_rates(each)) for shape, each in found]
    return table(("shape", *costs, *rates), rows) if rows else ""


def _logged(report: Report) -> str:
    head = ("shape", *_cost_heads("logged"), "at most", *_rate_heads("logged"))
    found = _with_shapes(report, report.logged)
    rows = [(shape.title, *_costs(each), f"{shape.most:.2f}", *_rates(each)) for shape, each in found]
    return table(head, rows) if rows else ""


def _with_shapes(report: Report, contests: Iterable[Contest]) -> list[tuple[ShapeFacts, Contest]]:
    shapes = {shape.slug: shape for shape in report.shapes}
    return [(shapes[each.shape], each) for each in contests]


def _cost_heads(other: str) -> Sequence[str]:
    return ("CPU µs", f"{other} CPU µs", f"{other} over service", "from", "to")


def _costs(found: Contest) -> Sequence[str]:
    ours, theirs, ratio = found.ours.cpu_microseconds, found.theirs.cpu_microseconds, found.cpu_ratio
    ratios = (f"**{ratio.median:.2f}**", f"{ratio.lowest:.2f}", f"{ratio.highest:.2f}")
    return (f"{ours.median:,.1f}", f"{theirs.median:,.1f}", *ratios)


def _rate_heads(other: str) -> Sequence[str]:
    return ("requests/s", f"{other} requests/s")


def _rates(found: Contest) -> Sequence[str]:
    return tuple(f"{side.requests_per_second.median:,.0f}" for side in (found.ours, found.theirs))


def _peers(report: Report) -> str:
    """Return a table of shapes by peers: requests per second, and the ratio of the service to that."""
    names = list(dict.fromkeys(found.other for found in report.peers))
    if not names:
        return ""
    found = {(each.shape, each.other): each for each in report.peers}
    asked = {each.shape for each in report.peers}
    shapes = [shape for shape in report.shapes if shape.slug in asked]
    rows = ([shape.title, *(_peer(found.get((shape.slug, name))) for name in names)] for shape in shapes)
    return table(("requests/s (service over peer: median; lowest to highest)", *names), rows)


def _peer(found: Contest | None) -> str:
    if found is None:
        return "-"
    ratio = found.rate_ratio
    rate = f"{found.theirs.requests_per_second.median:,.0f}"
    return f"{rate} ({ratio.median:,.2f}; {ratio.lowest:,.2f} to {ratio.highest:,.2f})"


def _loadings(report: Report) -> str:
    head = ("server", "version", "ready after", "memory at the peak", "memory after", "of that anonymous")
    return table(head, map(_loading, report.loadings))


def _loading(loading: Loading) -> Sequence[str]:
    memory = (loading.memory.peak, loading.memory.resident, loading.memory.anonymous)
    return (
        loading.name,
        loading.version,
        f"{loading.ready_seconds:.2f} s",
        *(f"{each / _MIB:,.0f} MiB" for each in memory),
    )

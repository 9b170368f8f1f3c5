"""The results of all parts, their bounds, and their tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from bench.hostile.attacks import Attack
from bench.hostile.cost import Costs
from bench.hostile.inputs import INPUTS
from bench.hostile.latencies import Latency
from bench.markdown import table
from bench.wire.comparison import Spread
from bench.wire.machine import Surroundings

# Latency under an attack over latency without.
_MAX_LATENCY_RATIO: Final = 1.5
# Cost over that of an ordinary 401, per 16 KiB transferred.
_MAX_COST_RATIO: Final = 5
_MAX_HEALTH_SECONDS: Final = 1
_SHOWN: Final = 20
_LATENCY_HEAD: Final = ("99 %, ms, without", "under attack", "ratio", "from", "to")


class Report(msgspec.Struct, frozen=True):
    """The results of each part, if it ran."""

    surroundings: Surroundings
    connections: int
    slow: dict[str, list[Latency]] = {}
    costs: dict[str, list[Costs]] = {}
    attacks: dict[str, dict[int, list[Attack]]] = {}

    @property
    def missed(self) -> list[str]:
        """The medians above their bounds."""
        return [f"{what}: {figure:.2f}, at most {bound:g}" for what, figure, bound in self._bounded() if figure > bound]

    def _bounded(self) -> Iterator[tuple[str, float, float]]:
        for name, pairs in self.slow.items():
            yield name, _median(pair.ratio for pair in pairs), _MAX_LATENCY_RATIO
        for given in INPUTS:
            if given.bounded and given.name in self.costs:
                yield given.name, _median(pair.share for pair in self.costs[given.name]), _MAX_COST_RATIO
        for name, count, measured in self.every_attack():
            what = f"{name}, {count} connection{'' if count == 1 else 's'}"
            yield what, _median(each.stores.ratio for each in measured), _MAX_LATENCY_RATIO
            yield f"/health, {what}", _median(each.health.under for each in measured), _MAX_HEALTH_SECONDS

    def every_attack(self) -> Iterator[tuple[str, int, list[Attack]]]:
        """Yield the name, the number of connections and the results of each attack."""
        return ((name, count, found) for name, counts in self.attacks.items() for count, found in counts.items())


def markdown(report: Report) -> str:
    """Return the tables."""
    parts = [f"{report.surroundings}\n"]
    if report.slow:
        rows = ([name, *_latency_cells(pairs)] for name, pairs in report.slow.items())
        parts += [f"{report.connections:,} slow connections:\n", table(("attack", *_LATENCY_HEAD), rows)]
    if report.costs:
        parts += [f"The {_SHOWN} most expensive of {len(report.costs)} requests without a key:\n", _costs(report.costs)]
    if report.attacks:
        head = ("attack", "connections", *_LATENCY_HEAD, "99 % of /health, ms", "core, %")
        rows = ([name, f"{count}", *_attack_cells(found)] for name, count, found in report.every_attack())
        parts += ["Attackers at full speed:\n", table(head, rows)]
    if report.missed:
        parts.append("".join(f"- Bound missed: {missed}.\n" for missed in report.missed))
    return "\n".join(parts)


def _costs(costs: Mapping[str, Sequence[Costs]]) -> str:
    head = ("request", "KiB transferred", "CPU µs", "ratio to a 401", "from", "to", "per 16 KiB")
    first = sorted(costs.items(), key=lambda cost: -_median(pair.ratio for pair in cost[1]))[:_SHOWN]
    return table(head, ([name, *_cost_cells(pairs)] for name, pairs in first))


def _cost_cells(pairs: Sequence[Costs]) -> Iterator[str]:
    ratio = Spread.of(pair.ratio for pair in pairs)
    yield f"{_median(pair.run.bytes for pair in pairs) / 1024:,.1f}"
    yield f"{_median(pair.run.seconds for pair in pairs) * 1e6:,.0f}"
    yield from (f"{ratio.median:.1f}", f"{ratio.lowest:.1f}", f"{ratio.highest:.1f}")
    yield f"**{_median(pair.share for pair in pairs):.1f}**"


def _attack_cells(measured: Sequence[Attack]) -> Iterator[str]:
    yield from _latency_cells([each.stores for each in measured])
    yield f"{_median(each.health.under for each in measured) * 1e3:.2f}"
    yield f"{_median(each.core for each in measured) * 100:.0f}"


def _latency_cells(pairs: Sequence[Latency]) -> Iterator[str]:
    yield f"{_median(pair.without for pair in pairs) * 1e3:.2f}"
    yield f"{_median(pair.under for pair in pairs) * 1e3:.2f}"
    yield from Spread.of(pair.ratio for pair in pairs).cells()


def _median(figures: Iterator[float]) -> float:
    return Spread.of(figures).median

"""What was found, its bounds, and its tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from bench.hostile.attacks import Attack
from bench.hostile.cost import Pair as Costs
from bench.hostile.inputs import INPUTS
from bench.hostile.waits import Pair
from bench.markdown import table
from bench.wire.machine import Surroundings
from bench.wire.measure import Spread

# Under an attack over without.
_WAIT_BOUND: Final = 1.5
# Over a plain 401, for each 16 KiB that goes to and fro.
_COST_BOUND: Final = 5
_PROBE_SECONDS: Final = 1
_MILLISECONDS, _MICROSECONDS = 1e3, 1e6
# The dearest, and whatever is over the bound in one way or the other.
_SHOWN: Final = 20


class Report(msgspec.Struct, frozen=True):
    """What was found of each part, if it was measured."""

    surroundings: Surroundings
    connections: int
    slow: dict[str, list[Pair]] = {}
    costs: dict[str, list[Costs]] = {}
    attacks: dict[str, dict[int, list[Attack]]] = {}

    @property
    def missed(self) -> list[str]:
        """Where a median is over its bound."""
        return [f"{what}: {figure:.2f}, at most {bound:g}" for what, figure, bound in self._judged() if figure > bound]

    def _judged(self) -> Iterator[tuple[str, float, float]]:
        for name, pairs in self.slow.items():
            yield name, _median(pair.ratio for pair in pairs), _WAIT_BOUND
        for given in INPUTS:
            if given.bounded and given.name in self.costs:
                yield given.name, _median(pair.share for pair in self.costs[given.name]), _COST_BOUND
        for name, counts in self.attacks.items():
            for count, measured in counts.items():
                what = f"{name}, {_connections(count)}"
                yield what, _median(each.stores.ratio for each in measured), _WAIT_BOUND
                yield f"/health, {what}", _median(each.health.under for each in measured), _PROBE_SECONDS


def markdown(report: Report) -> str:
    """Return the tables."""
    parts = [f"{report.surroundings}\n"]
    if report.slow:
        parts.append(f"{report.connections:,} slow connections:\n\n{_slow_table(report.slow)}")
    if report.costs:
        parts.append(
            f"The {_SHOWN} dearest of {len(report.costs)} requests without a key:\n\n{_cost_table(report.costs)}"
        )
    if report.attacks:
        parts.append(f"Attackers as fast as they can:\n\n{_attack_table(report.attacks)}")
    if report.missed:
        parts.append("".join(f"- Not kept: {missed}.\n" for missed in report.missed))
    return "\n".join(parts)


def _slow_table(slow: Mapping[str, Sequence[Pair]]) -> str:
    head = ("attack", "99 %, ms, without", "under it", "under over without", "from", "to")
    return table(head, ([name, *_pair_cells(pairs)] for name, pairs in slow.items()))


def _cost_table(costs: Mapping[str, Sequence[Costs]]) -> str:
    head = ("request", "KiB to and fro", "CPU µs", "over a plain 401", "from", "to", "for each 16 KiB")
    dearest = sorted(costs.items(), key=lambda cost: -_median(pair.ratio for pair in cost[1]))
    return table(head, ([name, *_cost_cells(pairs)] for name, pairs in dearest[:_SHOWN]))


def _cost_cells(pairs: Sequence[Costs]) -> Iterator[str]:
    ratio = Spread.of(pair.ratio for pair in pairs)
    yield f"{_median(pair.run.bytes for pair in pairs) / 1024:,.1f}"
    yield f"{_median(pair.run.seconds for pair in pairs) * _MICROSECONDS:,.0f}"
    yield from (f"{ratio.median:.1f}", f"{ratio.lowest:.1f}", f"{ratio.highest:.1f}")
    yield f"**{_median(pair.share for pair in pairs):.1f}**"


def _attack_table(attacks: Mapping[str, Mapping[int, Sequence[Attack]]]) -> str:
    client = ("99 %, ms, without", "under it", "under over without", "from", "to")
    head = ("attack", "connections", *client, "99 % of /health, ms", "core, %")
    rows = (
        [name, f"{count}", *_attack_cells(found)] for name, counts in attacks.items() for count, found in counts.items()
    )
    return table(head, rows)


def _attack_cells(measured: Sequence[Attack]) -> Iterator[str]:
    yield from _pair_cells([each.stores for each in measured])
    yield f"{_median(each.health.under for each in measured) * _MILLISECONDS:.2f}"
    yield f"{_median(each.core for each in measured) * 100:.0f}"


def _pair_cells(pairs: Sequence[Pair]) -> Iterator[str]:
    ratio = Spread.of(pair.ratio for pair in pairs)
    yield f"{_median(pair.without for pair in pairs) * _MILLISECONDS:.2f}"
    yield f"{_median(pair.under for pair in pairs) * _MILLISECONDS:.2f}"
    yield from (f"**{ratio.median:.2f}**", f"{ratio.lowest:.2f}", f"{ratio.highest:.2f}")


def _median(figures: Iterator[float]) -> float:
    return Spread.of(figures).median


def _connections(count: int) -> str:
    return f"{count} connection{'' if count == 1 else 's'}"

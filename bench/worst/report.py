"""The results: how long requests block the event loop, and the slowest of them."""

from collections import Counter
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from bench.markdown import table
from bench.wire.machine import Surroundings
from bench.worst.collections import Collections
from bench.worst.directory import Took
from bench.worst.values import FILTERS

_SHARES: Final = (0.5, 0.9, 0.99, 0.999)
_WIDEST: Final = 64
_NAMED: Final = 12
_GROUPED: Final = frozenset((*FILTERS, "near", "radius", "bbox", "q", "facets"))


class Held(msgspec.Struct, frozen=True):
    """The target of a request, the number of matching stores, and what it took with cold caches."""

    target: str
    total_count: int
    cold: Took


class Report(msgspec.Struct, frozen=True):
    """The number of requests, the percentiles of their seconds, the slowest ones, the bound.

    Only the slowest request of each group is among the slowest.
    """

    stores: int
    seed: int
    surroundings: Surroundings
    requests: int
    within: dict[float, float]
    filling: Collections
    slowest: list[Held]
    bound: float

    @property
    def within_bound(self) -> bool:
        """Whether no request exceeded the bound, and no collection of garbage."""
        return max(self.slowest[0].cold.held, *self.filling.seconds) <= self.bound


def shares(seconds: Iterable[float]) -> dict[float, float]:
    """Return percentiles of some times."""
    ordered = sorted(seconds)
    return {share: ordered[int(share * (len(ordered) - 1))] for share in _SHARES}


def markdown(report: Report) -> str:
    """Return the distribution and the slowest requests."""
    head = f"{report.stores:,} stores, seed {report.seed}. {report.surroundings}\n"
    names = [f"{share:.1%} within" for share in report.within]
    times = map(_milliseconds, (*report.within.values(), report.slowest[0].cold.held, report.bound))
    spread = table(("requests", *names, "the slowest", "bound"), [(f"{report.requests:,}", *times)])
    filling = report.filling
    generations = zip(filling.counts, filling.seconds, strict=True)
    collections = table(
        ("requests that fill the caches", "collections of generation 0", "1", "2", "longest of a request with one"),
        [
            (
                f"{filling.requests:,}",
                *(f"{count:,}, up to {_milliseconds(seconds)}" for count, seconds in generations),
                _milliseconds(filling.longest),
            )
        ],
    )
    rows = (
        (
            _milliseconds(each.cold.held),
            _milliseconds(each.cold.answered),
            f"{each.total_count:,}",
            _shown(each.target),
        )
        for each in report.slowest
    )
    columns = ("holds the event loop", "answered after", "stores that match", "request")
    return "\n".join((head, spread, collections, table(columns, rows)))


def parts(target: str) -> frozenset[tuple[str, int]]:
    """Return the path of a request, how often it has each filter, and what else selects or counts: its group."""
    path, _, query = target.partition("?")
    counts = Counter(name for name, _ in parse_qsl(query, keep_blank_values=True))
    return frozenset([(path, 1), *((name, count) for name, count in counts.items() if name in _GROUPED)])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"


def _shown(target: str) -> str:
    """Return a request in readable form, with counts instead of long and repeated values."""
    path, _, query = target.partition("?")
    params = parse_qsl(query, keep_blank_values=True)
    counts = Counter(name for name, _ in params)
    shown = {
        name: _short(name, value) if counts[name] == 1 else f"{name} {counts[name]} times" for name, value in params
    }
    return ", ".join(f"`{part}`" for part in [path, *shown.values()][:_NAMED])


def _short(name: str, value: str) -> str:
    if len(value) <= _WIDEST:
        return f"{name}={value}"
    characters = ", ".join(f"U+{ord(each):04X} {count} times" for each, count in Counter(value).most_common(2))
    return f"{name} of {len(value)} characters, {characters}"

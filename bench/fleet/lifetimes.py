"""How often Varnish answers by itself, and how old its answers are, by the lifetime in `--cache-control`."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.fleets import running_fleet
from bench.fleet.ledger import Ledger
from bench.fleet.marked_editions import Edition
from bench.fleet.visitors import Pace, every_target, visiting
from bench.markdown import table

POLICIES: Final = (
    "private, no-cache",
    "max-age=0, s-maxage=1",
    "max-age=0, s-maxage=1, stale-while-revalidate=5",
    "max-age=0, s-maxage=60",
    "max-age=60",
)
_REPLICAS: Final = 2


class Lifetime(msgspec.Struct, frozen=True):
    """What Varnish did under a policy.

    hits, revalidated, misses  answers from its store, those that a 304 confirmed, those that replicas sent
    requests   what the replicas received
    old        seconds after the last replica served new data that a client last got the old
    watched    seconds after the last replica served new data that the run lasted
    """

    policy: str
    complete: int
    hits: int
    revalidated: int
    misses: int
    requests: int
    old: float
    watched: float
    problems: Sequence[str]

    @property
    def missed(self) -> list[str]:
        """What failed, was cut or was mixed."""
        return [f"{self.policy}: {problem}" for problem in self.problems]


def measure(folder: Path, editions: Sequence[Edition], policy: str, pace: Pace, seconds: float) -> Lifetime:
    """Send requests to Varnish, and publish the second edition at half time."""
    with running_fleet(folder, editions[0], replicas=_REPLICAS, cache_control=policy) as fleet:
        ledger, targets = Ledger(editions), every_target(fleet.replicas[0].port)
        before = fleet.balancer.counts().requests
        with visiting(ledger, targets, pace, balancer=fleet.balancer.port, cache=fleet.cache_port):
            time.sleep(seconds / 2)
            fleet.origin.publish(editions[1].baked)
            fleet.wait_until_all_serve(editions[1])
            all_new = time.monotonic()
            time.sleep(seconds / 2)
            watched = time.monotonic() - all_new
        counts, requests = ledger.take(), fleet.balancer.counts().requests - before
    return Lifetime(
        policy,
        counts["complete"],
        counts["HIT"],
        counts["REVALIDATED"],
        counts["MISS"],
        requests,
        max(0.0, ledger.last_seen.get(editions[0].version, 0.0) - all_new),
        watched,
        [*ledger.problems, *(["a cut answer"] if counts["cut"] else [])],
    )


def markdown(found: Iterable[Lifetime]) -> str:
    """Return the rates as a table."""
    head = ("`--cache-control`", "answers", "hits, %", "revalidated, %", "requests to replicas, %", "old data until, s")
    return table(head, map(_row, found))


def _row(each: Lifetime) -> Sequence[str]:
    shares = (f"{number / each.complete:.0%}" for number in (each.hits, each.revalidated, each.requests))
    old = "to the end" if each.old > each.watched - 1 else f"{each.old:.1f}"
    return (f"`{each.policy}`", f"{each.complete:,}", *(share.rstrip("%") for share in shares), old)

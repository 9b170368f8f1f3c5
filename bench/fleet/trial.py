"""A trial: every change of a fleet under load, then the same requests to each replica."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.changes import Change, Outcome, outcomes
from bench.fleet.fleets import Fleet, running_fleet
from bench.fleet.ledger import Ledger
from bench.fleet.marked_editions import Edition
from bench.fleet.visitors import Pace, every_target, visiting
from bench.wire.contender import fetch
from bench.wire.shapes import KEY

# Varnish stores answers, and asks the replicas again and again.
_CACHE_CONTROL: Final = "max-age=0, s-maxage=1"


class Trial(msgspec.Struct, frozen=True):
    """What clients saw of each change; what differed between replicas, of `compared` responses; the first problems."""

    replicas: int
    outcomes: Sequence[Outcome]
    compared: int
    different: Sequence[str]
    problems: Sequence[str]

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept."""
        broken = [miss for each in self.outcomes for miss in each.missed]
        return [*broken, *(f"replicas differ: {target}" for target in self.different), *self.problems]


def make_trial(
    folder: Path, editions: Sequence[Edition], changes: Sequence[Change], *, replicas: int, pace: Pace
) -> Trial:
    """Run a trial in a new folder, with an edition for each change of the data, and one more. Raises `Failed`."""
    with running_fleet(folder, editions[0], replicas=replicas, cache_control=_CACHE_CONTROL) as fleet:
        ledger, targets = Ledger(editions), every_target(fleet.replicas[0].port)
        with visiting(ledger, targets, pace, balancer=fleet.balancer.port, cache=fleet.cache_port):
            found = list(outcomes(fleet, editions, changes, ledger, pace.pause))
        different = [target for target in targets if not _is_same_from_all(fleet, target)]
    return Trial(replicas, found, len(targets), different, ledger.problems)


def _is_same_from_all(fleet: Fleet, target: str) -> bool:
    """Return whether all replicas send the same bytes with the same entity tag."""
    return len({fetch(replica.port, target, KEY) for replica in fleet.replicas}) == 1

"""The results of the trial of a fleet, and of the lifetimes in its cache."""

from collections.abc import Sequence

import msgspec

from bench.fleet import changes, lifetimes
from bench.fleet.lifetimes import Lifetime
from bench.fleet.trial import Trial
from bench.wire.machine import Surroundings


class Report(msgspec.Struct, frozen=True):
    """The machine, the number of stores, and the results."""

    surroundings: Surroundings
    stores: int
    trial: Trial
    lifetimes: Sequence[Lifetime]

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept."""
        return [*self.trial.missed, *(miss for each in self.lifetimes for miss in each.missed)]


def markdown(report: Report) -> str:
    """Return the surroundings and the tables."""
    trial = report.trial
    same = f"{trial.compared - len(trial.different)} of {trial.compared} responses"
    parts = (
        f"{report.surroundings}\n",
        changes.markdown(trial.outcomes),
        f"{same} have the same bytes and the same entity tag from each of {trial.replicas} replicas.\n",
        lifetimes.markdown(report.lifetimes),
        "".join(f"- Missed: {miss}.\n" for miss in report.missed),
    )
    return "\n".join(part for part in parts if part)

"""How the parts of the bench are measured, and what they share."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from bench.wire.contender import Contender
from bench.wire.load import Driver
from bench.wire.measure import Spread
from bench.wire.sample import Sample
from bench.wire.service import service


class Setting(msgspec.Struct, frozen=True):
    """With which data, how often, on which core servers stand where they are bound to one, and how they are driven."""

    seed: int
    repeats: int
    core: int
    driver: Driver

    @property
    def both_cores(self) -> tuple[int, int]:
        """The cores of a server that is not bound to one: clients and load take from the first."""
        return self.driver.core, self.core

    def sample(self, stores: int) -> Sample:
        """Return the made-up data set of so many stores."""
        return Sample.of(stores, seed=self.seed)


def several(data: Path, workers: int) -> Contender:
    """Return the service with so many workers."""
    return service(data, "--workers", str(workers))


def told(spread: Spread, *, scale: float = 1, digits: int = 2) -> str:
    """Return the median of some figures and the highest."""
    return f"{spread.median * scale:,.{digits}f} ({spread.highest * scale:,.{digits}f})"


def megabytes(sizes: Iterable[int]) -> str:
    """Return sizes in bytes as MB, the least and the most."""
    ordered = [f"{size / 1e6:,.0f}" for size in sorted(sizes)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"

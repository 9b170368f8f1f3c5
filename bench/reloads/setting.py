"""Settings and helpers that the parts of the benchmark share."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from bench.wire.contender import Contender
from bench.wire.load import Driver
from bench.wire.measure import Spread
from bench.wire.sample import Sample
from bench.wire.service import service


class Setting(msgspec.Struct, frozen=True):
    """The seed of the data, the number of repeats, the core of servers that are bound to one, and the load."""

    seed: int
    repeats: int
    core: int
    driver: Driver

    @property
    def both_cores(self) -> tuple[int, int]:
        """The cores of a server that is not bound to one; clients and load share the first."""
        return self.driver.core, self.core

    def sample(self, stores: int) -> Sample:
        """Return the synthetic data set of a number of stores."""
        return Sample.of(stores, seed=self.seed)


def several(data: Path, workers: int) -> Contender:
    """Return the service with a number of workers."""
    return service(data, "--workers", str(workers))


def median_and_highest(spread: Spread, *, scale: float = 1, digits: int = 2) -> str:
    """Return the median of some figures, and the maximum in brackets."""
    return f"{spread.median * scale:,.{digits}f} ({spread.highest * scale:,.{digits}f})"


def megabytes(sizes: Iterable[int]) -> str:
    """Return sizes in bytes as MB, the minimum and the maximum."""
    ordered = [f"{size / 1e6:,.0f}" for size in sorted(sizes)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"

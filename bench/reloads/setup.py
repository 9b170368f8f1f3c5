"""The setup that all parts of the benchmark share, and how they write figures."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from bench.wire.comparison import Spread
from bench.wire.contender import Contender
from bench.wire.load import LoadGenerator
from bench.wire.sample import Sample
from bench.wire.service_contender import service


class Setup(msgspec.Struct, frozen=True):
    """The seed of the data, the number of repeats, the core of servers that are bound to one, and the load."""

    seed: int
    repeats: int
    core: int
    load: LoadGenerator

    @property
    def both_cores(self) -> tuple[int, int]:
        """The cores of a server that is not bound to one; clients and load share the first."""
        return self.load.core, self.core

    def sample(self, stores: int) -> Sample:
        """Return the synthetic data set of a number of stores."""
        return Sample.of(stores, seed=self.seed)


def with_workers(data: Path, workers: int) -> Contender:
    """Return the service with a number of workers."""
    return service(data, "--workers", str(workers))


def median_and_maximum(figures: Iterable[float], *, scale: float = 1, digits: int = 2) -> str:
    """Return the median of some figures, and the maximum in parentheses."""
    spread = Spread.of(figures)
    return f"{spread.median * scale:,.{digits}f} ({spread.highest * scale:,.{digits}f})"


def megabytes(sizes: Iterable[int]) -> str:
    """Return sizes in bytes as MB, the minimum and the maximum."""
    ordered = [f"{size / 1e6:,.0f}" for size in sorted(sizes)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"

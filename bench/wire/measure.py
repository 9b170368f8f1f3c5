"""Measure servers against each other, in turn: A B C A B C."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Final

import msgspec

from bench.wire.load import Driver, Questions, Run, drive
from bench.wire.servers import Server
from bench.wire.shapes import Shape

_PROBES: Final = 20


class Pair(msgspec.Struct, frozen=True):
    """A run of the service, and a run of another server in the same round."""

    ours: Run
    theirs: Run


class Spread(msgspec.Struct, frozen=True):
    """The minimum, the median and the maximum of some figures."""

    lowest: float
    median: float
    highest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> "Spread":
        """Return the spread of figures."""
        ordered = sorted(figures)
        return cls(ordered[0], median(ordered), ordered[-1])


class Side(msgspec.Struct, frozen=True):
    """One server's runs: the mean size of the first bodies in bytes, and spreads over the runs."""

    mean_bytes: float
    cpu_microseconds: Spread
    requests_per_second: Spread

    @classmethod
    def of(cls, mean_bytes: float, runs: Sequence[Run]) -> "Side":
        """Return the summary of runs."""
        cpu = Spread.of(run.cpu_microseconds for run in runs)
        return cls(mean_bytes, cpu, Spread.of(run.requests_per_second for run in runs))


class Contest(msgspec.Struct, frozen=True):
    """The service and another server on one shape, in pairs of runs.

    `cpu_ratio` is their CPU for a request over ours, `rate_ratio` our requests per second over theirs, pair by pair;
    `least` is the lower bound for the median of the latter, 0 if there is none.
    """

    shape: str
    other: str
    ours: Side
    theirs: Side
    cpu_ratio: Spread
    rate_ratio: Spread
    least: float
    pairs: list[Pair]


def contest(driver: Driver, shape: Shape, *, ours: Server, theirs: Server, pairs: int) -> Contest:
    """Run the service and another server in turn on a shape. Raises as `contests`."""
    (made,) = contests(driver, shape, ours=ours, others=(theirs,), rounds=pairs)
    return made


def contests(driver: Driver, shape: Shape, *, ours: Server, others: Sequence[Server], rounds: int) -> list[Contest]:
    """Run the service and other servers in turn on a shape, after checking some responses and warming up each.

    Each round is a pair with each other server. Raises `Cannot` if one does not support the shape, `Failed` if a server
    fails.
    """
    sides = [(server, Questions.of(shape, server)) for server in (ours, *others)]
    sizes = [_mean_bytes(server, questions) for server, questions in sides]
    warm = msgspec.structs.replace(driver, seconds=1)
    for server, questions in sides:
        drive(warm, server, questions)
    runs = [[drive(driver, server, questions) for server, questions in sides] for _ in range(rounds)]
    our_runs, *their_runs = zip(*runs, strict=True)
    return [
        _compared(shape, other, sizes[0], size, list(map(Pair, our_runs, each)))
        for other, size, each in zip(others, sizes[1:], their_runs, strict=True)
    ]


def _compared(shape: Shape, other: Server, our_bytes: float, their_bytes: float, pairs: list[Pair]) -> Contest:
    return Contest(
        shape=shape.slug,
        other=other.contender.name,
        ours=Side.of(our_bytes, [pair.ours for pair in pairs]),
        theirs=Side.of(their_bytes, [pair.theirs for pair in pairs]),
        cpu_ratio=Spread.of(pair.theirs.cpu_microseconds / pair.ours.cpu_microseconds for pair in pairs),
        rate_ratio=Spread.of(pair.ours.requests_per_second / pair.theirs.requests_per_second for pair in pairs),
        least=other.contender.least.get(shape.slug, 0),
        pairs=pairs,
    )


def _mean_bytes(server: Server, questions: Questions) -> float:
    """Return the mean size of the first bodies. Raises `Failed` for an unexpected response."""
    return fmean(len(questions.ask(server, target).body) for target in questions.targets[:_PROBES])

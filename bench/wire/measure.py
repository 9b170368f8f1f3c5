"""Measure two servers against each other: pairs of runs, A B A B."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Final

import msgspec

from bench.wire.load import Driver, Questions, Run, drive
from bench.wire.servers import Server
from bench.wire.shapes import Shape

_PROBES: Final = 20


class Pair(msgspec.Struct, frozen=True):
    """A run of the service and the run of another server that followed it."""

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

    `cpu_ratio` is their CPU for a request over ours, `rate_ratio` our requests per second over theirs, pair by pair.
    """

    shape: str
    other: str
    ours: Side
    theirs: Side
    cpu_ratio: Spread
    rate_ratio: Spread
    pairs: list[Pair]


def contest(driver: Driver, shape: Shape, *, ours: Server, theirs: Server, pairs: int) -> Contest:
    """Run the service and another server in turn on a shape, after checking some responses and warming up each.

    Raises `Cannot` if the other does not support the shape, `Failed` if a server fails.
    """
    our_questions, their_questions = (Questions.of(shape, server) for server in (ours, theirs))
    our_bytes, their_bytes = _mean_bytes(ours, our_questions), _mean_bytes(theirs, their_questions)
    warm = msgspec.structs.replace(driver, seconds=1)
    drive(warm, ours, our_questions)
    drive(warm, theirs, their_questions)
    made = [Pair(drive(driver, ours, our_questions), drive(driver, theirs, their_questions)) for _ in range(pairs)]
    return Contest(
        shape=shape.slug,
        other=theirs.contender.name,
        ours=Side.of(our_bytes, [pair.ours for pair in made]),
        theirs=Side.of(their_bytes, [pair.theirs for pair in made]),
        cpu_ratio=Spread.of(pair.theirs.cpu_microseconds / pair.ours.cpu_microseconds for pair in made),
        rate_ratio=Spread.of(pair.ours.requests_per_second / pair.theirs.requests_per_second for pair in made),
        pairs=made,
    )


def _mean_bytes(server: Server, questions: Questions) -> float:
    """Return the mean size of the first bodies. Raises `Failed` for an unexpected response."""
    return fmean(len(questions.ask(server, target).body) for target in questions.targets[:_PROBES])

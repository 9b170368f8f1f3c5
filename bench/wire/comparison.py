"""Comparisons of servers, measured in turn: A B C A B C."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Final

import msgspec

from bench.wire.contender import Unsupported
from bench.wire.load import LoadGenerator, Run, Workload, generate_load
from bench.wire.matches import matches_of_page
from bench.wire.servers import Failed, Server
from bench.wire.shapes import Bound, Shape

_PROBES: Final = 20
COMPARED_RESPONSES: Final = 100


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

    def cells(self, digits: int = 2) -> Sequence[str]:
        """Return the median, the minimum and the maximum as cells of a table."""
        return (f"**{self.median:.{digits}f}**", f"{self.lowest:.{digits}f}", f"{self.highest:.{digits}f}")


class Pair(msgspec.Struct, frozen=True):
    """A run of the service, and a run of another server in the same round."""

    ours: Run
    theirs: Run


class Comparison(msgspec.Struct, frozen=True):
    """The service and another server on one shape: the mean sizes of their first bodies in bytes, and pairs of runs."""

    shape: str
    other: str
    mean_bytes: tuple[float, float]
    pairs: list[Pair]
    bound: Bound | None = None

    @property
    def cpu_ratio(self) -> Spread:
        """The other's CPU time for a request over ours, pair by pair."""
        return Spread.of(pair.theirs.cpu_microseconds / pair.ours.cpu_microseconds for pair in self.pairs)

    @property
    def cpu_added(self) -> Spread:
        """The other's CPU time for a request less ours in microseconds, pair by pair."""
        return Spread.of(pair.theirs.cpu_microseconds - pair.ours.cpu_microseconds for pair in self.pairs)

    @property
    def rate_ratio(self) -> Spread:
        """Our requests per second over the other's, pair by pair."""
        return Spread.of(pair.ours.requests_per_second / pair.theirs.requests_per_second for pair in self.pairs)

    def medians(self, figure: str) -> tuple[float, float]:
        """Return the medians of a figure of the runs, ours and theirs."""
        pairs = [(getattr(pair.ours, figure), getattr(pair.theirs, figure)) for pair in self.pairs]
        ours, theirs = map(median, zip(*pairs, strict=True))
        return ours, theirs

    @property
    def missed(self) -> str:
        """The bound that is missed, if any."""
        if self.bound is None:
            return ""
        what, value = {
            "cpu_ratio": (f"{self.other} over service", self.cpu_ratio.median),
            "cpu_added": (f"{self.other} less service, µs", self.cpu_added.median),
            "rate_ratio": (f"service over {self.other}", self.rate_ratio.median),
            "cpu_microseconds": ("CPU µs", self.medians("cpu_microseconds")[0]),
        }[self.bound.figure]
        return "" if self.bound.allows(value) else f"{what} is {value:,.2f}, {self.bound}"


def compare(load: LoadGenerator, shape: Shape, ours: Server, others: Sequence[Server], rounds: int) -> list[Comparison]:
    """Run the service and other servers in turn on a shape, after checking some responses and warming up each.

    Each round is a pair with each other server. Raises `Unsupported` if one does not support the shape, `Failed` if a
    server fails.
    """
    workloads = [Workload.of(shape, server) for server in (ours, *others)]
    sizes = [fmean(len(each.fetch(target).body) for target in each.targets[:_PROBES]) for each in workloads]
    for each in workloads:
        generate_load(msgspec.structs.replace(load, seconds=1), each)
    runs = [[generate_load(load, each) for each in workloads] for _ in range(rounds)]
    our_runs, *their_runs = zip(*runs, strict=True)
    return [
        Comparison(shape.slug, other.contender.name, (sizes[0], size), list(map(Pair, our_runs, each)))
        for other, size, each in zip(others, sizes[1:], their_runs, strict=True)
    ]


def compare_with_peer(load: LoadGenerator, shape: Shape, ours: Server, peer: Server, rounds: int) -> Comparison:
    """Compare the service with a peer, if it finds the same stores. Raises as `compare`."""
    contender = peer.contender
    if contender.only and shape.slug not in contender.only:
        raise Unsupported("")
    _check_matches(shape, ours, peer)
    (made,) = compare(load, shape, ours, (peer,), rounds)
    least = contender.min_rates.get(shape.slug)
    return msgspec.structs.replace(made, bound=Bound("rate_ratio", least) if least else None)


def _check_matches(shape: Shape, ours: Server, peer: Server) -> None:
    """Compare the first responses to a location or text search. Raises `Unsupported`, `Failed`."""
    read = peer.contender.read_matches
    if read is None or not shape.is_located:
        return
    mine, theirs = Workload.of(shape, ours), Workload.of(shape, peer)
    differing = [
        our_target
        for our_target, target in list(zip(mine.targets, theirs.targets, strict=True))[:COMPARED_RESPONSES]
        if not matches_of_page(mine.fetch(our_target).body).agrees(
            read(theirs.fetch(target).body), peer.contender.tolerance
        )
    ]
    if differing:
        raise Failed(f"{len(differing)} of {COMPARED_RESPONSES} responses have other stores, first {differing[0]}")

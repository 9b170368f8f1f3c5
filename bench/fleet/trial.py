"""A trial: every change of a fleet under load, what clients see of it, and how old the answers of its cache are."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.fleets import PACKED, PLAIN, Fleet, running_fleet
from bench.fleet.ledger import Ledger
from bench.fleet.visitors import StreamReader, Visitor, every_target, visiting
from bench.samples import Edition
from bench.servers import fetch
from bench.shapes import KEY
from tests.program import eventually

# Varnish stores answers, and asks the replicas again and again.
_CACHE_CONTROL: Final = "max-age=0, s-maxage=1"
POLICIES: Final = (
    "private, no-cache",
    "max-age=0, s-maxage=1",
    "max-age=0, s-maxage=1, stale-while-revalidate=5",
    "max-age=0, s-maxage=60",
    "max-age=60",
)
_REPLICAS: Final = 2


class Pace(msgspec.Struct, frozen=True):
    """The load: clients of the balancer and of the cache, requests a second of each, and readers of streams of each.

    pause  seconds before and after a change, and that something killed stays so
    """

    balancer_clients: int
    cache_clients: int
    rate: float
    streams: int = 0
    pause: float = 2.0

    def visitors(self, fleet: Fleet, targets: Sequence[str], ledger: Ledger) -> Sequence[Visitor]:
        """Return the clients of a fleet."""
        doors = [fleet.balancer.port] * self.balancer_clients + [fleet.cache_port] * self.cache_clients
        kinds = [(Visitor, port) for port in doors]
        kinds += [(StreamReader, port) for port in [fleet.balancer.port, fleet.cache_port] * self.streams]
        return [kind(port, targets, ledger, pause=1 / self.rate, seed=seed) for seed, (kind, port) in enumerate(kinds)]


# Makes a change, to an edition if it is one of data; returns when the replicas could begin to fetch that.
_Change = Callable[[Fleet, Edition, float], float | None]


class Change(msgspec.Struct, frozen=True):
    """A change: its name, whether it is planned, and whether it is one of the data."""

    name: str
    make: _Change
    is_planned: bool
    has_data: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """What clients saw during a change: the counts of the `Ledger`, and what HAProxy sent again, as `repeated`.

    seconds   until the last replica served the new edition, if there was one
    received  bytes that each replica received from the origin, on average
    """

    change: Change
    counts: Mapping[str, int]
    seconds: float | None
    received: float

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept: no answer fails or is mixed, and a planned change cuts none."""
        kinds = ("failed", "mixed", "cut") if self.change.is_planned else ("failed", "mixed")
        return [f"{self.change.name}: {self.counts[kind]} {kind}" for kind in kinds if self.counts[kind]]


def new_data(fleet: Fleet, edition: Edition, _: float) -> float:
    """Publish an edition."""
    fleet.origin.publish(edition.baked)
    return time.monotonic()


def new_software(fleet: Fleet, _: Edition, __: float) -> None:
    """Restart each replica after the other."""
    for replica in fleet.replicas:
        replica.drain()
        fleet.start(replica)


def both(fleet: Fleet, edition: Edition, pause: float) -> None:
    """Publish an edition, and restart each replica after the other."""
    fleet.origin.publish(edition.baked)
    new_software(fleet, edition, pause)


def one_less(fleet: Fleet, _: Edition, pause: float) -> None:
    """Stop a replica, and start it later."""
    fleet.replicas[0].drain()
    time.sleep(pause)
    fleet.start(fleet.replicas[0])


def killed_replicas(fleet: Fleet, _: Edition, pause: float) -> None:
    """Kill each replica after the other, and start it later."""
    for replica in fleet.replicas:
        replica.kill()
        time.sleep(pause)
        fleet.start(replica)
        time.sleep(pause)


def killed_origin(fleet: Fleet, edition: Edition, pause: float) -> float:
    """Kill the origin once the first replica serves a new edition, and start it later."""
    fleet.origin.publish(edition.baked)
    eventually(lambda: fleet.serving(edition))
    fleet.origin.kill()
    time.sleep(pause)
    fleet.origin.start()
    return time.monotonic()


CHANGES = (
    Change("new data", new_data, is_planned=True, has_data=True),
    Change("new software: each replica restarts, one after the other", new_software, is_planned=True),
    Change("both at once", both, is_planned=True, has_data=True),
    Change("one replica drains, and is back later", one_less, is_planned=True),
    Change("each replica is killed, one after the other", killed_replicas, is_planned=False),
    Change("the origin is killed while replicas fetch new data", killed_origin, is_planned=False, has_data=True),
)


def outcomes(
    fleet: Fleet, editions: Sequence[Edition], changes: Iterable[Change], ledger: Ledger, pause: float
) -> Iterator[Outcome]:
    """Make changes while clients send requests, each of data to the next edition."""
    served, following = editions[0], iter(editions[1:])
    for change in changes:
        ledger.take()
        (_, before), sent = fleet.balancer.counts(), fleet.origin.sent()
        time.sleep(pause)
        served = next(following) if change.has_data else served
        began = change.make(fleet, served, pause)
        fleet.wait_until_all_serve(served)
        seconds = time.monotonic() - began if began else None
        time.sleep(pause)
        counts = ledger.take()
        counts["repeated"] = fleet.balancer.counts()[1] - before
        yield Outcome(change, counts, seconds, (fleet.origin.sent() - sent) / len(fleet.replicas))


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
        with visiting(pace.visitors(fleet, targets, ledger)):
            found = list(outcomes(fleet, editions, changes, ledger, pace.pause))
        different = [target for target in targets if not _is_same_from_all(fleet, target)]
    return Trial(replicas, found, len(targets), different, ledger.problems)


def _is_same_from_all(fleet: Fleet, target: str) -> bool:
    """Return whether all replicas send the same bytes with the same entity tag."""
    return len({fetch(replica.port, target, KEY) for replica in fleet.replicas}) == 1


class Lifetime(msgspec.Struct, frozen=True):
    """What Varnish did under a policy: the counts of the `Ledger`, and what the replicas received, as `requests`.

    old        seconds after the last replica served new data that a client last got the old
    watched    seconds after the last replica served new data that the run lasted
    """

    policy: str
    counts: Mapping[str, int]
    old: float
    watched: float
    problems: Sequence[str]

    @property
    def missed(self) -> list[str]:
        """What failed, was cut or was mixed."""
        cut = ["a cut answer"] if self.counts["cut"] else []
        return [f"{self.policy}: {problem}" for problem in (*self.problems, *cut)]


def measure(folder: Path, editions: Sequence[Edition], policy: str, pace: Pace, seconds: float) -> Lifetime:
    """Send requests to Varnish, and publish the second edition at half time."""
    with running_fleet(folder, editions[0], replicas=_REPLICAS, cache_control=policy) as fleet:
        ledger, targets = Ledger(editions), every_target(fleet.replicas[0].port)
        before, _ = fleet.balancer.counts()
        with visiting(pace.visitors(fleet, targets, ledger)):
            time.sleep(seconds / 2)
            fleet.origin.publish(editions[1].baked)
            fleet.wait_until_all_serve(editions[1])
            all_new = time.monotonic()
            time.sleep(seconds / 2)
            watched = time.monotonic() - all_new
        counts = ledger.take()
        counts["requests"] = fleet.balancer.counts()[0] - before
    old = max(0.0, ledger.last_seen.get(editions[0].version, 0.0) - all_new)
    return Lifetime(policy, counts, old, watched, ledger.problems)


class Transfer(msgspec.Struct, frozen=True):
    """New data without load: the name of the file, the bytes of the plain one, those that each replica received.

    seconds  until the last replica served it
    """

    name: str
    size: int
    received: float
    seconds: float


def transfers(folder: Path, editions: Sequence[Edition], replicas: int) -> Iterator[Transfer]:
    """Publish the second edition, plain and compressed, each to a fleet of its own."""
    for name in (PLAIN, PACKED):
        with running_fleet(
            folder / name, editions[0], replicas=replicas, cache_control=_CACHE_CONTROL, name=name
        ) as fleet:
            sent = fleet.origin.sent()
            fleet.origin.publish(editions[1].baked)
            began = time.monotonic()
            fleet.wait_until_all_serve(editions[1])
            seconds = time.monotonic() - began
            received = (fleet.origin.sent() - sent) / replicas
        yield Transfer(name, editions[1].baked.stat().st_size, received, seconds)

"""Changes of a fleet under load, planned and not, and what its clients see of each."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from bench.fleet.fleets import Fleet
from bench.fleet.ledger import Ledger
from bench.fleet.marked_editions import Edition
from bench.markdown import table
from tests.program import eventually

# Makes a change, to an edition if it is one of data; returns when the replicas could begin to fetch that.
_Change = Callable[[Fleet, Edition, float], float | None]


class Change(msgspec.Struct, frozen=True):
    """A change: its name, whether it is planned, and whether it is one of the data."""

    name: str
    make: _Change
    is_planned: bool
    has_data: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """What clients saw during a change (see `Ledger`).

    repeated  requests that HAProxy sent again
    seconds   until the last replica served the new edition, if there was one
    """

    change: str
    is_planned: bool
    complete: int
    moved: int
    repeated: int
    cut: int
    failed: int
    mixed: int
    seconds: float | None

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept: no answer fails or is mixed, and a planned change cuts none."""
        broken = {"failed": self.failed, "mixed": self.mixed, "cut": self.cut if self.is_planned else 0}
        return [f"{self.change}: {count} {name}" for name, count in broken.items() if count]


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
    new_data(fleet, edition, pause)
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
        before = fleet.balancer.counts().repeated
        time.sleep(pause)
        served = next(following) if change.has_data else served
        began = change.make(fleet, served, pause)
        fleet.wait_until_all_serve(served)
        seconds = time.monotonic() - began if began else None
        time.sleep(pause)
        repeated, counts = fleet.balancer.counts().repeated - before, ledger.take()
        numbers = {name: counts[name] for name in ("complete", "moved", "cut", "failed", "mixed")}
        yield Outcome(change.name, change.is_planned, repeated=repeated, seconds=seconds, **numbers)


def markdown(found: Iterable[Outcome]) -> str:
    """Return what clients saw as a table."""
    head = (
        "change",
        "whole answers",
        "of these 412",
        "repeated by HAProxy",
        "cut",
        "failed",
        "mixed",
        "last replica, s",
    )
    return table(head, map(_row, found))


def _row(each: Outcome) -> Sequence[str]:
    numbers = (each.complete, each.moved, each.repeated, each.cut, each.failed, each.mixed)
    return (each.change, *(f"{n:,}" for n in numbers), "-" if each.seconds is None else f"{each.seconds:.1f}")

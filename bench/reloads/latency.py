"""The time of reloads, and the latency of requests during them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.editions import FORMS, Form, Place, editions, place
from bench.reloads.observed import Reload, quiet, reload
from bench.reloads.setting import Setting, median_and_highest, several
from bench.reloads.watch import Waits, waits
from bench.reloads.workers import Connection, connected
from bench.wire.measure import Spread
from bench.wire.servers import Server, running

_WORKERS: Final = (1, 2)
_SKEW_SECONDS: Final = 0.2
# The pause between the requests that read the version of each worker: the resolution of the times.
_PAUSE_SECONDS: Final = 0.005


class Reloads(msgspec.Struct, frozen=True):
    """Reloads of one kind, and the latency of requests without pause, during other reloads and as long without one."""

    stores: int
    form: Form
    workers: int
    reloads: Sequence[Reload]
    during: Sequence[Waits]
    without: Sequence[Waits]

    @property
    def missed(self) -> list[str]:
        """The skew, if it is not below its bound."""
        skew = max(each.skew for each in self.reloads)
        return [] if skew < _SKEW_SECONDS else [f"{self.stores:,} stores, {self.form}: a skew of {skew * 1e3:.0f} ms"]


def reloads(setting: Setting, stores: int) -> Iterator[Reloads]:
    """Reload repeatedly: first with a request now and then, then with requests without pause."""
    pair = editions(setting.sample(stores))
    for form, workers in product(FORMS, _WORKERS):
        with (
            place(setting.sample(stores), pair, form) as home,
            running(several(home.data, workers), *setting.both_cores) as server,
            connected(server, workers) as connections,
        ):
            repeats = range(setting.repeats)
            seen = [reload(server, connections, home, pause=_PAUSE_SECONDS).reload for _ in repeats]
            pairs = [_waits(server, connections, home) for _ in repeats]
            yield Reloads(stores, form, workers, seen, *zip(*pairs, strict=True))


def _waits(server: Server, connections: Mapping[int, Connection], home: Place) -> tuple[Waits, Waits]:
    """Return the latency during a reload, and for the same time after it."""
    during = reload(server, connections, home, pause=0).answers
    without = quiet(connections, during[-1].at - during[0].at)
    return waits(during), waits(without)


def markdown(found: Sequence[Reloads]) -> str:
    """Return the times of reloads, then the latencies, as tables."""
    return f"{_times(found)}\n{_waited(found)}"


def _kind(each: Reloads) -> tuple[str, str, str]:
    return f"{each.stores:,}", each.form, str(each.workers)


def _times(found: Iterable[Reloads]) -> str:
    head = (
        "stores",
        "from",
        "workers",
        "change to last new answer, ms",
        "until published",
        "of that compiling",
        "skew",
    )
    return table(head, (_time(each) for each in found))


def _time(each: Reloads) -> Sequence[str]:
    names = ("last", "published", "compiled", "skew")
    last, published, compiled, skew = (Spread.of(getattr(one, name) for one in each.reloads) for name in names)
    compiling = _milliseconds(compiled) if each.form == "files" else "-"
    between = _milliseconds(skew) if each.workers > 1 else "-"
    return (*_kind(each), _milliseconds(last), _milliseconds(published), compiling, between)


def _waited(found: Iterable[Reloads]) -> str:
    figures = ("longest, ms", "99.9 %", "longest standstill")
    head = ("stores", "from", "workers", *(f"{name}, {when}" for name in figures for when in ("reload", "none")))
    return table(head, ((*_kind(each), *_waits_of(each)) for each in found))


def _waits_of(each: Reloads) -> Iterator[str]:
    for name in ("longest", "share", "held"):
        for side in (each.during, each.without):
            yield _milliseconds(Spread.of(getattr(waited, name) for waited in side), digits=1)


def _milliseconds(spread: Spread, digits: int = 0) -> str:
    return median_and_highest(spread, scale=1e3, digits=digits)

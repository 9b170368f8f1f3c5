"""The time of reloads, and the latency of requests during them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.observation import Latencies, Reload, no_reload, reload
from bench.reloads.published_data import FORMS, Form, Published, editions, publish_in_turn
from bench.reloads.setup import Setup, median_and_maximum, with_workers
from bench.reloads.worker_connections import Connection, connected
from bench.wire.servers import Server, running

_WORKERS: Final = (1, 2)
_MAX_SKEW_SECONDS: Final = 0.2
# The pause between the requests that read the version of each worker: the resolution of the times.
_PAUSE_SECONDS: Final = 0.005
_LATENCIES: Final = {"longest": "longest, ms", "percentile": "99.9 %", "standstill": "longest standstill"}


class Reloads(msgspec.Struct, frozen=True):
    """Reloads of one kind; the latency of requests without pause during other reloads, and as long without one."""

    stores: int
    form: Form
    workers: int
    reloads: Sequence[Reload]
    during: Sequence[Latencies]
    without: Sequence[Latencies]

    @property
    def missed(self) -> list[str]:
        """The skew, if it is not below its bound."""
        skew = max(each.skew for each in self.reloads)
        is_missed = skew >= _MAX_SKEW_SECONDS
        return [f"{self.stores:,} stores, {self.form}: a skew of {skew * 1e3:.0f} ms"] if is_missed else []

    @property
    def kind(self) -> Sequence[str]:
        """The first cells of its rows."""
        return (f"{self.stores:,}", self.form, str(self.workers))


def reloads(setup: Setup, stores: int) -> Iterator[Reloads]:
    """Reload repeatedly: first with a request now and then, then with requests without pause."""
    sample = setup.sample(stores)
    pair = editions(sample)
    for form, workers in product(FORMS, _WORKERS):
        with (
            publish_in_turn(sample, pair, form) as data,
            running(with_workers(data.path, workers), *setup.both_cores) as server,
            connected(server, workers) as connections,
        ):
            repeats = range(setup.repeats)
            observed = [reload(server, connections, data, pause=_PAUSE_SECONDS)[0] for _ in repeats]
            pairs = [_latencies(server, connections, data) for _ in repeats]
            yield Reloads(stores, form, workers, observed, *zip(*pairs, strict=True))


def _latencies(server: Server, connections: Mapping[int, Connection], data: Published) -> tuple[Latencies, Latencies]:
    """Return the latencies during a reload, and for the same time after it."""
    _, during = reload(server, connections, data, pause=0)
    without = no_reload(connections, during[-1].at - during[0].at)
    return Latencies.of(during), Latencies.of(without)


def markdown(found: Sequence[Reloads]) -> str:
    """Return the times of reloads, then the latencies, as tables."""
    head = ("stores", "from", "workers")
    times = ("change to last new response, ms", "until published", "of that compiling", "skew")
    when = (f"{name}, {when}" for name in _LATENCIES.values() for when in ("reload", "none"))
    rows = ((*each.kind, *_latency_cells(each)) for each in found)
    return f"{table((*head, *times), map(_times, found))}\n{table((*head, *when), rows)}"


def _times(each: Reloads) -> Sequence[str]:
    last, published, compiled, skew = (
        median_and_maximum((getattr(one, name) for one in each.reloads), scale=1e3, digits=0)
        for name in ("last", "published", "compiled", "skew")
    )
    has_compiler, has_skew = each.form == "files", each.workers > 1
    return (*each.kind, last, published, compiled if has_compiler else "-", skew if has_skew else "-")


def _latency_cells(each: Reloads) -> Iterator[str]:
    for name in _LATENCIES:
        for side in (each.during, each.without):
            yield median_and_maximum((getattr(latencies, name) for latencies in side), scale=1e3, digits=1)

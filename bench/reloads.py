"""Measure reloads as clients observe them, and the latency of requests meanwhile: `python -m bench.reloads`."""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, takewhile
from typing import Final

import click
import msgspec

from bench import processes
from bench.report import finish, surroundings, table, with_maximum
from bench.samples import FORMS, Form, Published, Sample, editions, publish_in_turn
from bench.servers import Failed, running, split_cores
from bench.workers import Connection, connected, with_workers

_SIZES: Final = (100_000, 1_000_000)
_WORKERS: Final = (1, 2)
_MAX_SKEW_SECONDS: Final = 0.2
# The pause between the requests that read the version of each worker: the resolution of the times.
_PAUSE_SECONDS: Final = 0.005
_AFTER_SECONDS: Final = 1
_TIMEOUT_SECONDS: Final = 120
_PERCENTILE: Final = 0.999
_LATENCIES: Final = {"longest": "longest, ms", "percentile": "99.9 %", "standstill": "longest standstill"}


class Sent(msgspec.Struct, frozen=True, gc=False):
    """A request: its worker, the time of its response, its latency, the part of that without a core, the data version.

    Times are in seconds of the monotonic clock.
    """

    worker: int
    at: float
    seconds: float
    waited: float
    version: bytes


class Latencies(msgspec.Struct, frozen=True):
    """The 99.9th percentile and the maximum in seconds, and the maximum of the standstills.

    A standstill is the latency without the time in which worker or client were ready to run but had no core: an upper
    bound for how long the event loop was blocked.
    """

    percentile: float
    longest: float
    standstill: float

    @classmethod
    def of(cls, requests: Sequence[Sent]) -> "Latencies":
        """Return the latencies of requests."""
        ordered = sorted(each.seconds for each in requests)
        standstill = max(each.seconds - each.waited for each in requests)
        return cls(ordered[int(_PERCENTILE * (len(ordered) - 1))], ordered[-1], standstill)


class Case(msgspec.Struct, frozen=True):
    """Reloads of one kind; the latency of requests without pause during other reloads, and as long without one.

    last  seconds from the last rename to the last worker's first new response
    skew  seconds between the first worker's first new response and the last one's
    """

    stores: int
    form: Form
    workers: int
    last: Sequence[float]
    skew: Sequence[float]
    during: Sequence[Latencies]
    without: Sequence[Latencies]


@click.command()
@click.option("--stores", type=int, multiple=True, default=_SIZES, show_default=True, help="Repeatable.")
@click.option("--repeats", default=5, show_default=True, help="Reloads per case.")
def main(*, stores: tuple[int, ...], repeats: int) -> None:
    """Print the tables; exit with 1 if a bound is exceeded. A run of all sizes updates the docs."""
    cores = split_cores()
    gc.disable()  # a collection would look like a slow response
    cases = [each for count in stores for each in _cases(Sample.of(count), repeats, cores)]
    missed = [each for each in cases if max(each.skew) >= _MAX_SKEW_SECONDS]
    lines = "".join(f"- Bound missed: the skew of {each.stores:,} stores, {each.form}.\n" for each in missed)
    text = f"{surroundings()}\n\n{_tables(cases)}{lines}"
    finish("reloads", text, is_full=stores == _SIZES, missed=missed)


def _cases(sample: Sample, repeats: int, cores: Sequence[int]) -> Iterator[Case]:
    """Reload repeatedly: first with a request now and then, then with requests without pause."""
    pair = editions(sample)
    for form, workers in product(FORMS, _WORKERS):
        with (
            publish_in_turn(sample, pair, form) as data,
            running(with_workers(data.path, workers), *cores) as server,
            connected(server, workers) as connections,
        ):
            times = [_reload(connections, data, pause=_PAUSE_SECONDS)[:2] for _ in range(repeats)]
            pairs = [_latencies(connections, data) for _ in range(repeats)]
            yield Case(sample.stores, form, workers, *zip(*times, strict=True), *zip(*pairs, strict=True))


def _latencies(connections: Mapping[int, Connection], data: Published) -> tuple[Latencies, Latencies]:
    """Return the latencies during a reload, and for the same time after it."""
    *_, during = _reload(connections, data, pause=0)
    end = time.monotonic() + during[-1].at - during[0].at
    without = list(takewhile(lambda each: each.at < end, _requests(connections, pause=0)))
    return Latencies.of(during), Latencies.of(without)


def _reload(connections: Mapping[int, Connection], data: Published, *, pause: float) -> tuple[float, float, list[Sent]]:
    """Publish the other edition, and send requests until a second after all workers serve it.

    Return the seconds until the last worker serves it, those since the first does, the requests. Raises `Failed`.
    """
    sent, new = list[Sent](), dict[int, float]()
    version = data.publish().version.encode()
    published = time.monotonic()
    for each in _requests(connections, pause=pause):
        sent.append(each)
        if each.version == version:
            new.setdefault(each.worker, each.at)
        if len(new) == len(connections) and each.at > max(new.values()) + _AFTER_SECONDS:
            break
        if each.at > published + _TIMEOUT_SECONDS:
            raise Failed(f"{len(new)} of {len(connections)} workers had new data after {_TIMEOUT_SECONDS} s")
    first, last = min(new.values()), max(new.values())
    return last - published, last - first, sent


def _requests(connections: Mapping[int, Connection], *, pause: float) -> Iterator[Sent]:
    """Send a request to each worker in turn, endlessly, with a pause in seconds between the rounds."""
    while True:
        for worker, connection in connections.items():
            waited, started = processes.core_wait(worker, "self"), time.monotonic()
            version = connection.send()
            at = time.monotonic()
            yield Sent(worker, at, at - started, processes.core_wait(worker, "self") - waited, version)
        if pause:
            time.sleep(pause)


def _tables(cases: Sequence[Case]) -> str:
    """Return the times of reloads, then the latencies."""
    head = ("stores", "from", "workers")
    when = (f"{name}, {when}" for name in _LATENCIES.values() for when in ("reload", "none"))
    kinds = [(f"{each.stores:,}", each.form, str(each.workers)) for each in cases]
    times = ((*kind, *_times(each)) for kind, each in zip(kinds, cases, strict=True))
    rows = ((*kind, *_latency_cells(each)) for kind, each in zip(kinds, cases, strict=True))
    return f"{table((*head, 'change to last new response, ms', 'skew'), times)}\n{table((*head, *when), rows)}"


def _times(each: Case) -> Sequence[str]:
    last, skew = (with_maximum(times, scale=1e3, digits=0) for times in (each.last, each.skew))
    return (last, skew if each.workers > 1 else "-")


def _latency_cells(each: Case) -> Iterator[str]:
    for name in _LATENCIES:
        for side in (each.during, each.without):
            yield with_maximum((getattr(latencies, name) for latencies in side), scale=1e3, digits=1)


if __name__ == "__main__":
    main()

"""Measure cheap requests beside a stream of the most expensive ones: `python -m bench.beside`.

The service has a core of its own; the clients share the other.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import cycle
from random import Random
from statistics import median
from typing import Final

import click
import msgspec

from bench.markdown import save, table
from bench.wire.cores import pinned, split_cores
from bench.wire.locator import CLUSTERS_PATH
from bench.wire.machine import Surroundings, surroundings
from bench.wire.processes import core_wait
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import Server, running
from bench.wire.service_contender import service
from bench.wire.shapes import KEY, STORES_PATH, read_shapes

_STORES: Final = 1_000_000
_CONNECTIONS: Final = 8
_RATE: Final = 200  # requests a second
_SETTLE_SECONDS: Final = 0.7
_CHEAP: Final = ("company", "city")
_SHARES: Final = (0.5, 0.99, 1.0)
_BOUND_SECONDS: Final = 0.006
# The client that is measured has the same core.
_NICENESS: Final = 5
_POINT: Final = "{latitude:.4f},{longitude:.4f}"
# Of requests that hold the event loop longest, one of each kind; no two have the same point or box.
_EXPENSIVE: Final = (
    f"{STORES_PATH}?near={_POINT}&radius=20000000&limit=50&page_num=9000",
    f"{STORES_PATH}?near={_POINT}&is_open=true&sort_order=desc&limit=1000&page_num=480",
    f"{STORES_PATH}?near={_POINT}&limit=1000&page_num=480",
    f"{STORES_PATH}?near={_POINT}&radius=10000000&facets=province,parent_company_id,city,company_id,postal_code",
    f"{STORES_PATH}?near={_POINT}&radius=6000000&q=a&limit=1000",
    CLUSTERS_PATH + "?bbox=-179,-80,{longitude:.4f},80&zoom=8&is_open=true",
    CLUSTERS_PATH + "?bbox=-179,-80,{longitude:.4f},80&zoom=6&q=k",
)


class Latencies(msgspec.Struct, frozen=True):
    """The median, the 99th percentile and the maximum of the latency of cheap requests, in seconds, alone and beside.

    `waited` is the share of the time in which the event loop was ready to run beside the stream, and had no core.
    """

    alone: tuple[float, ...]
    beside: tuple[float, ...]
    waited: float

    @property
    def added(self) -> float:
        """What the stream adds to the 99th percentile."""
        return self.beside[1] - self.alone[1]


class Results(msgspec.Struct, frozen=True):
    """What was measured, in pairs."""

    stores: int
    surroundings: Surroundings
    pairs: Sequence[Latencies]


@click.command()
@click.option("--stores", default=_STORES, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--pairs", default=7, show_default=True)
@click.option("--seconds", default=4.0, show_default=True, help="Length of a measurement.")
def main(*, stores: int, seed: int, pairs: int, seconds: float) -> None:
    """Print the table; exit with 1 beyond the bound. The default number of stores updates README.md."""
    core, load_core = split_cores()
    sample = Sample.of(stores, seed=seed)
    baked = make_baked(sample)
    shapes = [shape for shape in read_shapes(sample.folder, seed) if shape.slug in _CHEAP]
    cheap = [request.target for shape in shapes for request in shape.requests]
    targets = cycle(Random(seed).sample(cheap, len(cheap)))
    with running(service(baked), core) as server:
        _latencies(server, targets, seconds)
        found = [_pair(server, load_core, targets, seconds, seed=seed + number) for number in range(pairs)]
    results = Results(stores, surroundings(), found)
    print(_markdown(results))
    if stores == _STORES:
        save("beside", results=results, tables=_markdown(results))
    sys.exit(median(each.added for each in found) > _BOUND_SECONDS)


def _pair(server: Server, core: int, targets: Iterator[str], seconds: float, *, seed: int) -> Latencies:
    alone = _latencies(server, targets, seconds)
    with _streaming(server, core, seed):
        waited = core_wait(server.pid)
        beside = _latencies(server, targets, seconds)
        return Latencies(alone, beside, (core_wait(server.pid) - waited) / seconds)


@contextmanager
def _streaming(server: Server, core: int, seed: int) -> Iterator[None]:
    """Send expensive requests, one after the other, from a process on a core."""
    command = [sys.executable, "-c", f"import bench.beside; bench.beside.stream({server.port}, {seed})"]
    with subprocess.Popen(pinned(command, core)) as client:  # noqa: S603 - our own
        try:
            time.sleep(_SETTLE_SECONDS)
            yield
        finally:
            client.kill()


def stream(port: int, seed: int) -> None:
    """Send expensive requests until this process is killed."""
    os.nice(_NICENESS)
    random, connection = Random(seed), HTTPConnection("127.0.0.1", port)
    for target in cycle(_EXPENSIVE):
        place = {"latitude": random.uniform(-60, 70), "longitude": random.uniform(-179, 179)}
        connection.request("GET", target.format_map(place), headers={"x-api-key": KEY})
        connection.getresponse().read()


def _latencies(server: Server, targets: Iterator[str], seconds: float) -> tuple[float, ...]:
    """Return percentiles of the latency of requests that are sent at a fixed rate, in turn on some connections.

    One that cannot be sent in time, because the one before is not answered, counts from when it should have been. The
    time in which this process was ready to run and had no core is subtracted: the stream shares it.
    """
    connections = [HTTPConnection("127.0.0.1", server.port) for _ in range(_CONNECTIONS)]
    latencies, first = list[float](), time.monotonic()
    for number in range(int(seconds * _RATE)):
        due = first + number / _RATE
        early = due - time.monotonic()
        time.sleep(max(early, 0))
        waited, started = core_wait("self"), time.monotonic() if early > 0 else due
        connection = connections[number % _CONNECTIONS]
        connection.request("GET", next(targets), headers={"x-api-key": KEY})
        connection.getresponse().read()
        latencies.append(time.monotonic() - started - (core_wait("self") - waited))
    for connection in connections:
        connection.close()
    ordered = sorted(latencies)
    return tuple(ordered[int(share * (len(ordered) - 1))] for share in _SHARES)


def _markdown(results: Results) -> str:
    head = (f"{_RATE} requests a second for companies and for 50 stores of a city", "50 % within, ms", "99 %", "all")
    rows = [
        (name, *(f"{median(each) * 1e3:.1f} ({max(each) * 1e3:.1f})" for each in zip(*found, strict=True)))
        for name, found in (
            ("alone", [each.alone for each in results.pairs]),
            ("beside a stream of expensive requests", [each.beside for each in results.pairs]),
        )
    ]
    added, waited = ([getattr(each, name) for each in results.pairs] for name in ("added", "waited"))
    last = (
        f"The stream adds {median(added) * 1e3:.1f} ms to the 99th percentile (from {min(added) * 1e3:.1f} to "
        f"{max(added) * 1e3:.1f}), at most {_BOUND_SECONDS * 1e3:.0f} are promised. The event loop was ready to run "
        f"and had no core for {median(waited):.0%} of the time.\n"
    )
    return f"{results.stores:,} stores. {results.surroundings}\n\n{table(head, rows)}\n{last}"


if __name__ == "__main__":
    main()

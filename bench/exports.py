"""Measure whole results over HTTP, and what a download costs other clients: `python -m bench.exports`.

The service has a core of its own; the reader of the download and the other clients share the other.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from typing import Final

import click
import msgspec

from bench.markdown import save, table
from bench.wire.cores import pinned, split_cores
from bench.wire.machine import Surroundings, surroundings
from bench.wire.processes import core_wait, memory
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import Server, running
from bench.wire.service_contender import service
from bench.wire.shapes import COMPANY_PATH, KEY, read_shapes

_STORES: Final = 1_000_000
_CONNECTIONS: Final = 16
_PART: Final = 1 << 18
_PERCENTILE: Final = 0.99
_TARGETS: Final = (
    "/stores.ndjson",
    "/stores.ndjson?sort_by=city",
    "/stores.ndjson?is_open=true&sort_by=name",
    "/stores.csv",
    "/stores.geojson",
)
# A download that takes the slower path, so that it overlaps many requests.
_LONG: Final = "/stores.csv"
_READER: Final = """
import sys, urllib.request
while True:
    with urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"x-api-key": sys.argv[2]})) as body:
        while body.read(1 << 18):
            pass
"""


class Export(msgspec.Struct, frozen=True):
    """A whole result: its bytes, seconds of the server's CPU, seconds to the first byte, anonymous memory after it."""

    target: str
    size: int
    cpu: float
    first: float
    anonymous: int


class Percentiles(msgspec.Struct, frozen=True):
    """The 99th percentile of the latency of requests for companies in seconds, without and beside a download."""

    without: float
    beside: float


class Results(msgspec.Struct, frozen=True):
    """What was measured."""

    stores: int
    surroundings: Surroundings
    exports: Sequence[Export]
    latencies: Sequence[Percentiles]


@click.command()
@click.option("--stores", default=_STORES, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--repeats", default=5, show_default=True)
@click.option("--seconds", default=3.0, show_default=True, help="Length of a measurement of latencies.")
def main(*, stores: int, seed: int, repeats: int, seconds: float) -> None:
    """Print the tables. The default number of stores updates README.md."""
    core, load_core = split_cores()
    sample = Sample.of(stores, seed=seed)
    baked = make_baked(sample)
    companies = next(shape for shape in read_shapes(sample.folder, seed) if shape.slug == "company")
    targets = [each.target for each in companies.requests if each.target.startswith(COMPANY_PATH)]
    with running(service(baked), core) as server:
        exports = [_median([_export(server, target) for _ in range(repeats)]) for target in _TARGETS]
        latencies = [_percentiles(server, load_core, targets, seconds) for _ in range(repeats)]
    results = Results(stores, surroundings(), exports, latencies)
    print(_markdown(results))
    if stores == _STORES:
        save("exports", results=results, tables=_markdown(results))


def _export(server: Server, target: str) -> Export:
    connection, size, first = HTTPConnection("127.0.0.1", server.port), 0, 0.0
    cpu, started = server.cpu_seconds(), time.monotonic()
    connection.request("GET", target, headers={"x-api-key": KEY})
    response = connection.getresponse()
    while part := response.read(_PART) if size else response.read(1):
        first = first or time.monotonic() - started
        size += len(part)
    connection.close()
    return Export(target, size, server.cpu_seconds() - cpu, first, memory(server.pid).anonymous)


def _median(repeated: Sequence[Export]) -> Export:
    cpu, first = median(each.cpu for each in repeated), median(each.first for each in repeated)
    return msgspec.structs.replace(repeated[-1], cpu=cpu, first=first)


def _percentiles(server: Server, core: int, targets: Sequence[str], seconds: float) -> Percentiles:
    without = _percentile(server, targets, seconds)
    with _downloading(server, core):
        return Percentiles(without, _percentile(server, targets, seconds))


@contextmanager
def _downloading(server: Server, core: int) -> Iterator[None]:
    """Download a whole result again and again, with a reader on a core."""
    command = [sys.executable, "-c", _READER, f"http://127.0.0.1:{server.port}{_LONG}", KEY]
    with subprocess.Popen(pinned(command, core)) as reader:  # noqa: S603 - our own
        try:
            yield
        finally:
            reader.kill()


def _percentile(server: Server, targets: Sequence[str], seconds: float) -> float:
    """Return the 99th percentile of requests that are sent on all connections at once, and read in turn.

    The time in which this process was ready to run and had no core is subtracted: the reader shares it.
    """
    connections = [HTTPConnection("127.0.0.1", server.port) for _ in range(_CONNECTIONS)]
    latencies, sent, end = list[float](), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        waited, started = core_wait("self"), time.monotonic()
        for connection in connections:
            connection.request("GET", targets[sent % len(targets)], headers={"x-api-key": KEY})
            sent += 1
        for connection in connections:
            connection.getresponse().read()
            latencies.append(time.monotonic() - started - (core_wait("self") - waited))
    for connection in connections:
        connection.close()
    return sorted(latencies)[int(_PERCENTILE * (len(latencies) - 1))]


def _markdown(results: Results) -> str:
    head = ("whole result", "MB", "server CPU, s", "MB/s of CPU", "first byte, ms", "anonymous MB after it")
    rows = [
        (
            f"`{each.target}`",
            f"{each.size / 1e6:,.0f}",
            f"{each.cpu:.2f}",
            f"{each.size / 1e6 / each.cpu:,.0f}",
            f"{each.first * 1e3:.1f}",
            f"{each.anonymous / 1e6:,.0f}",
        )
        for each in results.exports
    ]
    added = [each.beside - each.without for each in results.latencies]
    columns = ("requests for companies on 16 connections", "99 % within, ms", "from", "to")
    figures = (
        ("without a download", [each.without for each in results.latencies]),
        (f"beside `{_LONG}`", [each.beside for each in results.latencies]),
        ("added", added),
    )
    latency = [
        (name, *(f"{each * 1e3:.1f}" for each in (median(found), min(found), max(found)))) for name, found in figures
    ]
    return f"{results.surroundings}\n\n{table(head, rows)}\n{table(columns, latency)}"


if __name__ == "__main__":
    main()

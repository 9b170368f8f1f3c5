"""Measure whole results over HTTP: `python -m bench.exports`. The service has a core of its own."""

import time
from collections.abc import Sequence
from http.client import HTTPConnection
from statistics import median
from typing import Final

import click

from bench.processes import memory
from bench.report import finish, surroundings, table
from bench.samples import Sample, make_baked
from bench.servers import HOST, Server, running, service, split_cores
from bench.shapes import KEY

_STORES: Final = 1_000_000
_PART: Final = 1 << 18
_TARGETS: Final = (
    "/stores.ndjson",
    "/stores.ndjson?sort_by=city",
    "/stores.ndjson?is_open=true&sort_by=name",
    "/stores.csv",
    "/stores.geojson",
)
_HEAD: Final = ("whole result", "MB", "server CPU, s", "MB/s of CPU", "first byte, ms", "anonymous MB after it")


@click.command()
@click.option("--stores", default=_STORES, show_default=True)
@click.option("--repeats", default=5, show_default=True)
def main(*, stores: int, repeats: int) -> None:
    """Print the table. The default number of stores updates README.md."""
    core, _ = split_cores()
    with running(service(make_baked(Sample.of(stores))), core) as server:
        rows = [_row(server, target, repeats) for target in _TARGETS]
    finish("exports", f"{surroundings()}\n\n{table(_HEAD, rows)}", is_full=stores == _STORES)


def _row(server: Server, target: str, repeats: int) -> Sequence[str]:
    sizes, cpu, first = map(median, zip(*(_export(server, target) for _ in range(repeats)), strict=True))
    rates = (f"{sizes / 1e6:,.0f}", f"{cpu:.2f}", f"{sizes / 1e6 / cpu:,.0f}" if cpu else "-")
    return (f"`{target}`", *rates, f"{first * 1e3:.1f}", f"{memory(server.pid).anonymous / 1e6:,.0f}")


def _export(server: Server, target: str) -> tuple[float, float, float]:
    """Return the bytes of a whole result, the seconds of CPU that the server took, those until the first byte."""
    connection, size, first = HTTPConnection(HOST, server.port), 0, 0.0
    cpu, started = server.cpu_seconds(), time.monotonic()
    connection.request("GET", target, headers={"x-api-key": KEY})
    response = connection.getresponse()
    while part := response.read(_PART) if size else response.read(1):
        first = first or time.monotonic() - started
        size += len(part)
    connection.close()
    return size, server.cpu_seconds() - cpu, first


if __name__ == "__main__":
    main()

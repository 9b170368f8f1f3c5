"""Measure what clients that hold thousands of connections cost the others: `python -m bench.hostile`."""

import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import click
import msgspec

from bench.markdown import save, table
from bench.wire.cores import pinned, split_cores
from bench.wire.machine import Surroundings, surroundings
from bench.wire.measure import Spread
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import Failed, Server, running
from bench.wire.service import service
from bench.wire.shapes import KEY

_BOUND: Final = 1.5
_STORES: Final = 10_000
_SHARE: Final = 0.99
_PAUSE_SECONDS: Final = 0.001
_TIMEOUT_SECONDS: Final = 60
_LOOK_SECONDS: Final = 0.2
# To connect and to ask is a load as any other: what is measured is what comes then.
_SETTLE_SECONDS: Final = 1
_ACCEPTED: Final = '_total{result="accepted"}'
_OPEN: Final = "_open"
_OWN: Final = 10
_PAGE: Final = Path(__file__).parents[1] / "docs" / "hostile.md"
# slowhttptest's attacks: heads that come slowly, bodies that do, answers that are read slowly.
_ATTACKS: Final = {
    "slow heads": ("-H", "-i", "2"),
    "slow bodies": ("-B", "-i", "2"),
    "slow reading": ("-X", "-k", "10", "-w", "256", "-y", "512", "-n", "5", "-z", "32"),
}


class Pair(msgspec.Struct, frozen=True):
    """The 99th percentile of a well-behaved client's waits, in seconds, without an attack and under one."""

    without: float
    under: float

    @property
    def ratio(self) -> float:
        """Under the attack over without."""
        return self.under / self.without


class Report(msgspec.Struct, frozen=True):
    """The pairs of each attack."""

    connections: int
    surroundings: Surroundings
    attacks: dict[str, list[Pair]]

    @property
    def missed(self) -> list[str]:
        """Where the median of the pairs is over the bound."""
        found = {name: Spread.of(pair.ratio for pair in pairs).median for name, pairs in self.attacks.items()}
        return [f"{name}: {ratio:.2f} times" for name, ratio in found.items() if ratio > _BOUND]


@click.command()
@click.option("--connections", default=4000, show_default=True, help="How many the attacker opens.")
@click.option("--pairs", default=5, show_default=True)
@click.option("--seconds", default=5, show_default=True, help="Length of a measurement.")
def main(*, connections: int, pairs: int, seconds: int) -> None:
    """Print the table; end with 1 where the bound is passed. It is kept in docs/hostile.md."""
    if shutil.which("slowhttptest") is None:
        raise click.ClickException("slowhttptest is missing: install it, on Debian with `apt-get install slowhttptest`")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    core, load = split_cores()
    contender = service(make_baked(Sample.of(_STORES, seed=1)))
    attacks: dict[str, list[Pair]] = {name: [] for name in _ATTACKS}
    with running(contender, core) as server:
        for _ in range(pairs):
            for name, found in attacks.items():
                without = _percentile(server, seconds)
                with _attacked(server, load, _ATTACKS[name], connections):
                    found.append(Pair(without, _percentile(server, seconds)))
    report = Report(connections, surroundings(), attacks)
    print(_markdown(report))
    save("hostile", results=report, tables=_markdown(report), page=_PAGE)
    sys.exit(bool(report.missed))


@contextmanager
def _attacked(server: Server, load: int, options: tuple[str, ...], connections: int) -> Iterator[None]:
    """Attack, from when all connections are open; wait until the server has got rid of them."""
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    command = ["nice", "-n", "19", "slowhttptest", "-c", str(connections), "-r", str(connections // 2), "-l", "60"]
    before = _count(server, _ACCEPTED)
    attack = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
        pinned([*command, "-p", "60", "-u", address, *options], load), stdout=subprocess.DEVNULL
    )
    try:
        _await(server, _ACCEPTED, lambda count: count - before > connections * 9 // 10)
        time.sleep(_SETTLE_SECONDS)
        yield
    finally:
        attack.kill()
        attack.wait()
        _await(server, _OPEN, lambda count: count < _OWN)


def _percentile(server: Server, seconds: float) -> float:
    """Return within how many seconds 99 of 100 answers come to a client that asks on one connection."""
    connection = HTTPConnection("127.0.0.1", server.port)
    waits, end = [], time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        connection.request("GET", "/stores?limit=10", headers={"x-api-key": KEY})
        connection.getresponse().read()
        waits.append(time.monotonic() - begun)
        time.sleep(_PAUSE_SECONDS)
    connection.close()
    return sorted(waits)[int(_SHARE * (len(waits) - 1))]


def _await(server: Server, metric: str, enough: Callable[[int], bool]) -> None:
    """Wait until the server counts as many connections as is enough. Raises `Failed`."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    while not enough(count := _count(server, metric)):
        if time.monotonic() > end:
            raise Failed(f"after {_TIMEOUT_SECONDS} s {metric} is {count}")
        time.sleep(_LOOK_SECONDS)


def _count(server: Server, metric: str) -> int:
    metrics = server.ask("/metrics", KEY).body.decode()
    (count,) = re.findall(rf"^store_directory_http_connections{re.escape(metric)} (\d+)", metrics, re.MULTILINE)
    return int(count)


def _markdown(report: Report) -> str:
    head = ("attack", "99 %, ms, without", "under it", "under over without", "from", "to")
    rows = []
    for name, pairs in report.attacks.items():
        without, under = (Spread.of(getattr(pair, side) for pair in pairs) for side in ("without", "under"))
        ratio = Spread.of(pair.ratio for pair in pairs)
        times = (f"{1e3 * without.median:.2f}", f"{1e3 * under.median:.2f}")
        rows.append((name, *times, f"**{ratio.median:.2f}**", f"{ratio.lowest:.2f}", f"{ratio.highest:.2f}"))
    notes = "".join(f"- Not kept: {missed}.\n" for missed in report.missed)
    return f"{report.connections:,} connections. {report.surroundings}\n\n{table(head, rows)}{notes and chr(10)}{notes}"


if __name__ == "__main__":
    main()

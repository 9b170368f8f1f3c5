"""The latency of other clients while slowhttptest holds thousands of connections, in each of its three attacks."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from bench.hostile.latencies import Latency, Probe, percentiles, served
from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server
from bench.wire.shapes import KEY

_TIMEOUT_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.2
# The flood of connections at the start has a table of its own; it is over by then.
_SETTLE_SECONDS: Final = 6
_ACCEPTED: Final = '_total{result="accepted"}'
_OPEN: Final = "_open"
_OWN: Final = 10
_ATTACKS: Final = {
    "slow heads": ("-H", "-i", "2"),
    "slow bodies": ("-B", "-i", "2"),
    "slow reading": ("-X", "-k", "10", "-w", "256", "-y", "512", "-n", "5", "-z", "32"),
}


def slow(core: int, load: int, *, connections: int, pairs: int, seconds: float) -> dict[str, list[Latency]]:
    """Return the latencies under each attack, measured in rounds. Raises `Failed`.

    The client has the server's core: on the attacker's it would wait for what the kernel does for 4,000 sockets there.
    """
    if shutil.which("slowhttptest") is None:
        raise click.ClickException("slowhttptest is missing: install it, on Debian with `apt-get install slowhttptest`")
    attacks: dict[str, list[Latency]] = {name: [] for name in _ATTACKS}
    with served(core) as server:
        for _ in range(pairs):
            for name, found in attacks.items():
                without = _percentile(server, seconds, core)
                with _attacked(server, load, _ATTACKS[name], connections):
                    found.append(Latency(without, _percentile(server, seconds, core)))
    return attacks


def _percentile(server: Server, seconds: float, core: int) -> float:
    """Measure on a core, then return to the previous one."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        return percentiles([Probe(server.pid, server.port)], seconds)[0]
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _attacked(server: Server, load: int, options: tuple[str, ...], connections: int) -> Iterator[None]:
    """Yield once all connections of an attack are open; then wait until the server has closed them."""
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    command = ["nice", "-n", "19", "slowhttptest", "-c", str(connections), "-r", str(connections // 2), "-l", "60"]
    before = _count(server, _ACCEPTED)
    attack = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
        pinned([*command, "-p", "60", "-u", address, *options], load), stdout=subprocess.DEVNULL
    )
    try:
        _wait_for(server, _ACCEPTED, lambda count: count - before > connections * 9 // 10)
        time.sleep(_SETTLE_SECONDS)
        yield
    finally:
        attack.kill()
        attack.wait()
        _wait_for(server, _OPEN, lambda count: count < _OWN)


def _wait_for(server: Server, metric: str, is_enough: Callable[[int], bool]) -> None:
    """Wait for a number of connections in the server's metrics. Raises `Failed`."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    while not is_enough(count := _count(server, metric)):
        if time.monotonic() > end:
            raise Failed(f"after {_TIMEOUT_SECONDS} s {metric} is {count}")
        time.sleep(_POLL_SECONDS)


def _count(server: Server, metric: str) -> int:
    metrics = server.fetch("/metrics", KEY).body.decode()
    (count,) = re.findall(rf"^store_directory_http_connections{re.escape(metric)} (\d+)", metrics, re.MULTILINE)
    return int(count)

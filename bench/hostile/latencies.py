"""The latency of a well-behaved client, alone and beside slow clients, attackers, expensive requests and a download."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count, cycle
from random import Random
from typing import Final

import msgspec

from bench.hostile.attacker import ATTACKS
from bench.processes import core_wait
from bench.samples import Sample, make_baked
from bench.servers import HOST, Failed, Server, free_port, pinned, running, service
from bench.shapes import KEY, read_shapes
from tests.program import eventually

_CONNECTIONS: Final = (1, 100)
_SMALL: Final = Sample.of(10_000)
_PAUSE_SECONDS: Final = 0.001
_SHARES: Final = (0.5, 0.99, 1.0)
# To start and to connect is load, too; it is not measured.
_SETTLE_SECONDS, _CALM_SECONDS = 0.7, 0.5
# The flood of slow connections at the start has a table of its own; it is over by then.
_SLOW_SECONDS: Final = 6
_ACCEPTED, _OPEN = '_total{result="accepted"}', "_open"
_OWN: Final = 10
_SLOW: Final = {
    "slow heads": ("-H", "-i", "2"),
    "slow bodies": ("-B", "-i", "2"),
    "slow reading": ("-X", "-k", "10", "-w", "256", "-y", "512", "-n", "5", "-z", "32"),
}
# Requests a second on as many connections, for companies and for 50 stores of a city.
RATE, _CHEAP_CONNECTIONS, _CHEAP = 200, 8, ("company", "city")
BOUNDED: Final = ("a stream of expensive requests",)
_STREAMS: Final = {BOUNDED[0]: "expensive", "a download of `/stores.csv`": "download"}


class Probe(msgspec.Struct, frozen=True):
    """A connection of the client: its port, its targets, and the processes whose waits for a core do not count."""

    port: int
    targets: Iterator[str]
    pids: tuple[int | str, ...]


class Latency(msgspec.Struct, frozen=True):
    """The 99th percentile of a client's latency in seconds, without an attack and under one."""

    without: float
    under: float

    @property
    def ratio(self) -> float:
        """Under the attack over without."""
        return self.under / self.without


class Attack(msgspec.Struct, frozen=True):
    """The latency of a page of stores and of /health on the admin listener; the busy share of the server's core."""

    stores: Latency
    health: Latency
    core: float


class Beside(msgspec.Struct, frozen=True):
    """The median, the 99th percentile and the maximum of the latency of cheap requests in seconds, alone and beside.

    `waited` is the share of the time in which the event loop was ready to run beside the stream, and had no core.
    """

    alone: tuple[float, ...]
    beside: tuple[float, ...]
    waited: float

    @property
    def added(self) -> float:
        """What the stream adds to the 99th percentile."""
        return self.beside[1] - self.alone[1]


@contextmanager
def served(core: int, *options: str) -> Iterator[Server]:
    """Yield the service over a small data set on a core."""
    with running(service(make_baked(_SMALL), *options), core) as server:
        yield server


def latencies(probes: Sequence[Probe], seconds: float, rate: float = 0) -> list[list[float]]:
    """Return the latencies of each probe; they send in turn, each on its connection.

    At a rate, a request that is late because of the one before counts from when it should have been sent; without one,
    a request follows the answer to the one before. Attackers have the client's core, and other programs may have both.
    """
    connections = [HTTPConnection(HOST, probe.port) for probe in probes]
    found: list[list[float]] = [[] for _ in probes]
    due = time.monotonic()
    end = due + seconds
    for number in count():
        due = due + 1 / rate if rate else time.monotonic() + _PAUSE_SECONDS
        if due > end:
            break
        early = due - time.monotonic()
        time.sleep(max(early, 0))
        chosen = number % len(probes)
        probe, connection = probes[chosen], connections[chosen]
        waited, started = core_wait(*probe.pids), time.monotonic() if early > 0 else due
        connection.request("GET", next(probe.targets), headers={"x-api-key": KEY})
        connection.getresponse().read()
        found[chosen].append(time.monotonic() - started - (core_wait(*probe.pids) - waited))
    for connection in connections:
        connection.close()
    return found


def _percentiles(found: Sequence[float]) -> tuple[float, ...]:
    ordered = sorted(found)
    return tuple(ordered[int(share * (len(ordered) - 1))] for share in _SHARES)


def _99th(probes: Sequence[Probe], seconds: float) -> list[float]:
    return [_percentiles(found)[1] for found in latencies(probes, seconds)]


def attacks(core: int, load: int, *, pairs: int, seconds: float) -> dict[tuple[str, str], list[Attack]]:
    """Return the effect of each attack with each number of connections, measured in rounds. Raises `Failed`."""
    found: dict[tuple[str, str], list[Attack]] = {}
    admin = free_port()
    with served(core, "--admin", f"{HOST}:{admin}") as server:
        targets = {server.port: "/stores?limit=10", admin: "/health"}
        probes = [Probe(port, cycle([target]), ("self", server.pid)) for port, target in targets.items()]
        _99th(probes, seconds)
        for _ in range(pairs):
            for number, given in enumerate(ATTACKS):
                without = _99th(probes, seconds)
                for connections in _CONNECTIONS:
                    with _attacked(server, load, "attack", number, connections):
                        before, started = server.cpu_seconds(), time.monotonic()
                        under = _99th(probes, seconds)
                        busy = (server.cpu_seconds() - before) / (time.monotonic() - started)
                    stores, health = map(Latency, without, under)
                    found.setdefault((given.name, str(connections)), []).append(Attack(stores, health, busy))
    return found


def beside(stores: int, core: int, load: int, *, pairs: int, seconds: float) -> dict[str, list[Beside]]:
    """Return the latency of cheap requests to many stores, alone and beside each stream, in pairs. Raises `Failed`."""
    sample = Sample.of(stores)
    baked = make_baked(sample)
    shapes = [shape for shape in read_shapes(sample.folder, sample.seed) if shape.slug in _CHEAP]
    cheap = [request.target for shape in shapes for request in shape.requests]
    targets = cycle(Random(sample.seed).sample(cheap, len(cheap)))
    with running(service(baked), core) as server:
        probes = [Probe(server.port, targets, ("self",))] * _CHEAP_CONNECTIONS

        def measured() -> tuple[float, ...]:
            return _percentiles([each for found in latencies(probes, seconds, RATE) for each in found])

        def pair(kind: str, seed: int) -> Beside:
            alone = measured()
            with _attacked(server, load, kind, seed, 1):
                waited = core_wait(server.pid)
                under = measured()
                return Beside(alone, under, (core_wait(server.pid) - waited) / seconds)

        measured()
        return {name: [pair(kind, seed) for seed in range(pairs)] for name, kind in _STREAMS.items()}


@contextmanager
def _attacked(server: Server, load: int, kind: str, number: int, connections: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.hostile.attacker", kind, *map(str, (server.port, number, connections))]
    attacker = subprocess.Popen(pinned(command, load))  # noqa: S603 - this bench's own program
    try:
        time.sleep(_SETTLE_SECONDS)
        if attacker.poll() is not None:
            raise Failed(f"the attacker exited with {attacker.returncode}")
        yield
    finally:
        attacker.kill()
        attacker.wait()
        time.sleep(_CALM_SECONDS)


def slow(core: int, load: int, *, connections: int, pairs: int, seconds: float) -> dict[str, list[Latency]]:
    """Return the latencies while slowhttptest holds thousands of connections, in its three ways. Raises `Failed`.

    The client has the server's core: on the attacker's it would wait for what the kernel does for 4,000 sockets there.
    """
    if shutil.which("slowhttptest") is None:
        raise Failed("slowhttptest is missing: install it, on Debian with `apt-get install slowhttptest`")
    found: dict[str, list[Latency]] = {name: [] for name in _SLOW}
    with served(core) as server:
        os.sched_setaffinity(0, {core})
        probes = [Probe(server.port, cycle(["/stores?limit=10"]), ("self", server.pid))]
        for _ in range(pairs):
            for name, measured in found.items():
                (without,) = _99th(probes, seconds)
                with _held(server, load, _SLOW[name], connections):
                    (under,) = _99th(probes, seconds)
                measured.append(Latency(without, under))
    os.sched_setaffinity(0, {load})
    return found


@contextmanager
def _held(server: Server, load: int, options: tuple[str, ...], connections: int) -> Iterator[None]:
    """Yield once all connections of slowhttptest are open; then wait until the server has closed them."""
    address = f"http://{HOST}:{server.port}/openapi.json"
    command = ["nice", "-n", "19", "slowhttptest", "-c", str(connections), "-r", str(connections // 2), "-l", "60"]
    before = _metric(server, _ACCEPTED)
    attack = subprocess.Popen(  # noqa: S603 - the commands are this bench's own
        pinned([*command, "-p", "60", "-u", address, *options], load), stdout=subprocess.DEVNULL
    )
    try:
        eventually(lambda: _metric(server, _ACCEPTED) - before > connections * 9 // 10)
        time.sleep(_SLOW_SECONDS)
        yield
    finally:
        attack.kill()
        attack.wait()
        eventually(lambda: _metric(server, _OPEN) < _OWN)


def _metric(server: Server, metric: str) -> int:
    metrics = server.fetch("/metrics").body.decode()
    (found,) = re.findall(rf"^store_directory_http_connections{re.escape(metric)} (\d+)", metrics, re.MULTILINE)
    return int(found)

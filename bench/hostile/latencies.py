"""The service under attack, and the latency of a well-behaved client, alone and under an attack."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Final

import msgspec

from bench.wire.processes import core_wait
from bench.wire.sample import Sample, make_baked
from bench.wire.servers import Server, running
from bench.wire.service_contender import service
from bench.wire.shapes import KEY

_SAMPLE: Final = Sample.of(10_000, seed=1)
_PAUSE_SECONDS: Final = 0.001
_PERCENTILE: Final = 0.99


@contextmanager
def served(core: int, *options: str, name: str = "store-directory") -> Iterator[Server]:
    """Yield the service over a small data set on a core; its log has a name."""
    contender = msgspec.structs.replace(service(make_baked(_SAMPLE), *options), name=f"hostile, {name}")
    with running(contender, core) as server:
        yield server


class Probe(msgspec.Struct, frozen=True):
    """A request of the client: the server's process, a port, a target."""

    pid: int
    port: int
    target: str = "/stores?limit=10"


class Latency(msgspec.Struct, frozen=True):
    """The 99th percentile of a client's latency in seconds, without an attack and under one."""

    without: float
    under: float

    @property
    def ratio(self) -> float:
        """Under the attack over without."""
        return self.under / self.without


def percentiles(probes: Sequence[Probe], seconds: float) -> list[float]:
    """Return the 99th percentile of the latency of each probe, sent in turn on a connection each.

    The time in which the client or the server was ready to run and had no core is subtracted: the attacker has the
    client's core, and other programs may have both.
    """
    connections = [HTTPConnection("127.0.0.1", probe.port) for probe in probes]
    latencies: list[list[float]] = [[] for _ in probes]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for connection, probe, found in zip(connections, probes, latencies, strict=True):
            found.append(_latency(connection, probe))
        time.sleep(_PAUSE_SECONDS)
    for connection in connections:
        connection.close()
    return [sorted(found)[int(_PERCENTILE * (len(found) - 1))] for found in latencies]


def _latency(connection: HTTPConnection, probe: Probe) -> float:
    waited, started = core_wait("self") + core_wait(probe.pid), time.monotonic()
    connection.request("GET", probe.target, headers={"x-api-key": KEY})
    connection.getresponse().read()
    return time.monotonic() - started - (core_wait("self") + core_wait(probe.pid) - waited)

"""The latency of a well-behaved client while attackers send the worst inputs at full speed."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.hostile.inputs import ATTACKS
from bench.hostile.latencies import Latency, Probe, percentiles, served
from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server, free_port

CONNECTIONS: Final = (1, 100)
# To start and to connect is load, too; it is not measured.
_SETTLE_SECONDS: Final = 0.7
_CALM_SECONDS: Final = 0.5


class Attack(msgspec.Struct, frozen=True):
    """The latency of a page of stores and of /health on the admin listener; the busy share of the server's core."""

    stores: Latency
    health: Latency
    core: float


def attacks(core: int, load: int, *, pairs: int, seconds: float) -> dict[str, dict[int, list[Attack]]]:
    """Return the effect of each attack with each number of connections, measured in rounds. Raises `Failed`."""
    found: dict[str, dict[int, list[Attack]]] = {given.name: {count: [] for count in CONNECTIONS} for given in ATTACKS}
    admin = free_port()
    with served(core, "--admin", f"127.0.0.1:{admin}") as server:
        probes = [Probe(server.pid, server.port), Probe(server.pid, admin, "/health")]
        percentiles(probes, seconds)
        for _ in range(pairs):
            for number, given in enumerate(ATTACKS):
                without = percentiles(probes, seconds)
                for connections, measured in found[given.name].items():
                    with _attacked(server, load, number, connections):
                        before, started = server.cpu_seconds(), time.monotonic()
                        under = percentiles(probes, seconds)
                        busy = (server.cpu_seconds() - before) / (time.monotonic() - started)
                    stores, health = map(Latency, without, under)
                    measured.append(Attack(stores, health, busy))
    return found


@contextmanager
def _attacked(server: Server, load: int, number: int, connections: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.hostile.attacker", str(server.port), str(number), str(connections)]
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

"""What attackers cost a well-behaved client that send the worst inputs as fast as they can."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.hostile.inputs import ATTACKS
from bench.hostile.setting import served
from bench.hostile.waits import Pair, Question, percentiles
from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server, free_port

CONNECTIONS: Final = (1, 100)
# To start and to connect is a load as any other: what is measured is what comes then.
_SETTLE_SECONDS: Final = 0.7
_CALM_SECONDS: Final = 0.5


class Attack(msgspec.Struct, frozen=True):
    """What a client waited with and without an attack, for a page of stores and for /health on the admin listener."""

    stores: Pair
    health: Pair
    core: float


def attacks(core: int, load: int, *, pairs: int, seconds: float) -> dict[str, dict[int, list[Attack]]]:
    """Return what each attack cost with each number of connections, measured in rounds. Raises `Failed`."""
    found: dict[str, dict[int, list[Attack]]] = {given.name: {count: [] for count in CONNECTIONS} for given in ATTACKS}
    admin = free_port()
    with served(core, "--admin", f"127.0.0.1:{admin}") as server:
        questions = [Question(server.pid, server.port), Question(server.pid, admin, "/health")]
        percentiles(questions, seconds)
        for _ in range(pairs):
            for place, given in enumerate(ATTACKS):
                without = percentiles(questions, seconds)
                for connections, measured in found[given.name].items():
                    with _attacked(server, load, place, connections):
                        before, begun = server.cpu_seconds(), time.monotonic()
                        under = percentiles(questions, seconds)
                        busy = (server.cpu_seconds() - before) / (time.monotonic() - begun)
                    stores, health = map(Pair, without, under)
                    measured.append(Attack(stores, health, busy))
    return found


@contextmanager
def _attacked(server: Server, load: int, place: int, connections: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.hostile.attacker", str(server.port), str(place), str(connections)]
    attacker = subprocess.Popen(pinned(command, load))  # noqa: S603 - this bench's own program
    try:
        time.sleep(_SETTLE_SECONDS)
        if attacker.poll() is not None:
            raise Failed(f"the attacker ended with {attacker.returncode}")
        yield
    finally:
        attacker.kill()
        attacker.wait()
        time.sleep(_CALM_SECONDS)

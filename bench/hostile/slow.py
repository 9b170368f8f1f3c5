"""What thousands of connections cost the others that slowhttptest holds, with its three attacks."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from bench.hostile.setting import served
from bench.hostile.waits import Pair, Question, percentiles
from bench.wire.cores import pinned
from bench.wire.servers import Failed, Server
from bench.wire.shapes import KEY

_TIMEOUT_SECONDS: Final = 60
_LOOK_SECONDS: Final = 0.2
# Thousands that connect and ask at once are a flood, of which there is a table of its own. It is over by then.
_SETTLE_SECONDS: Final = 6
_ACCEPTED: Final = '_total{result="accepted"}'
_OPEN: Final = "_open"
_OWN: Final = 10
# slowhttptest's attacks: heads that come slowly, bodies that do, answers that are read slowly.
_ATTACKS: Final = {
    "slow heads": ("-H", "-i", "2"),
    "slow bodies": ("-B", "-i", "2"),
    "slow reading": ("-X", "-k", "10", "-w", "256", "-y", "512", "-n", "5", "-z", "32"),
}


def slow(core: int, load: int, *, connections: int, pairs: int, seconds: float) -> dict[str, list[Pair]]:
    """Return the pairs of each attack, measured in rounds. Raises `Failed`.

    The client has the server's core: on the attacker's it would wait for what the kernel does for 4,000 sockets there.
    """
    if shutil.which("slowhttptest") is None:
        raise click.ClickException("slowhttptest is missing: install it, on Debian with `apt-get install slowhttptest`")
    attacks: dict[str, list[Pair]] = {name: [] for name in _ATTACKS}
    with served(core) as server:
        questions = [Question(server.pid, server.port)]
        for _ in range(pairs):
            for name, found in attacks.items():
                (without,) = _percentiles(questions, seconds, core)
                with _attacked(server, load, _ATTACKS[name], connections):
                    (under,) = _percentiles(questions, seconds, core)
                found.append(Pair(without, under))
    return attacks


def _percentiles(questions: Sequence[Question], seconds: float, core: int) -> list[float]:
    """Measure on a core, and return to that of before."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        return percentiles(questions, seconds)
    finally:
        os.sched_setaffinity(0, before)


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

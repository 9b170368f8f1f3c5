"""What requests without a key cost: the server's processor time for each, beside that of a plain 401."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Final

import msgspec

from bench.hostile.client import Client
from bench.hostile.inputs import INPUTS, PLAIN, Input
from bench.hostile.setting import served
from bench.wire.contender import HOME
from bench.wire.servers import Server

_FEWEST: Final = 5
# So much is read and written at a price of its own: what is beyond it is as many requests more.
_SHARE_BYTES: Final = 16 << 10
# What the server does behind the last response.
_AFTER_SECONDS: Final = 0.02


class Run(msgspec.Struct, frozen=True):
    """One run: processor time for a request, in seconds, and how many bytes went to and fro."""

    seconds: float
    bytes: float


class Pair(msgspec.Struct, frozen=True):
    """A run of plain 401s, and the one of an input that followed."""

    plain: Run
    run: Run

    @property
    def ratio(self) -> float:
        """The cost of an input over that of a plain 401."""
        return self.run.seconds / self.plain.seconds

    @property
    def share(self) -> float:
        """The same for each 16 KiB, begun, that went to and fro."""
        return self.ratio / ceil(self.run.bytes / _SHARE_BYTES) if self.run.bytes else self.ratio


@contextmanager
def _both(core: int) -> Iterator[dict[bool, Server]]:
    """Give a service without options, and one with those that have more of a request read: as inputs ask for them."""
    log = HOME / "logs" / "hostile-access.log"
    options = ("--trusted-proxy", "127.0.0.1", "--cors-origin", "https://shop.example", "--access-log", str(log))
    try:
        with served(core) as server, served(core, *options, name="with options") as other:
            yield {False: server, True: other}
    finally:
        log.unlink(missing_ok=True)


def costs(core: int, *, pairs: int, seconds: float) -> dict[str, list[Pair]]:
    """Return the pairs of each input, measured in rounds. Raises `Failed`."""
    found: dict[str, list[Pair]] = {given.name: [] for given in INPUTS}
    with _both(core) as servers:
        for server in servers.values():
            _run(server, PLAIN, seconds)
        for _ in range(pairs):
            for given in INPUTS:
                server = servers[given.everything]
                found[given.name].append(Pair(_run(server, PLAIN, seconds), _run(server, given, seconds)))
    return found


def _run(server: Server, given: Input, seconds: float) -> Run:
    """Send an input again and again for so long; return what each of its requests cost."""
    client, count, sent = Client(server.port), 0, 0
    before, end = server.cpu_seconds(), time.monotonic() + seconds
    while time.monotonic() < end or count < _FEWEST:
        sent += client.send(given)
        count += max(1, given.answers)
    client.close()
    time.sleep(_AFTER_SECONDS)
    return Run((server.cpu_seconds() - before) / count, sent / count)

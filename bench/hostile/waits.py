"""What a well-behaved client waits, alone and under an attack."""

import time
from collections.abc import Sequence
from http.client import HTTPConnection
from typing import Final

import msgspec

from bench.wire.processes import core_wait
from bench.wire.shapes import KEY

_PAUSE_SECONDS: Final = 0.001
_SHARE: Final = 0.99


class Question(msgspec.Struct, frozen=True):
    """What the client asks, and whom: a page of stores on the public listener, or a probe on the other."""

    pid: int
    port: int
    target: str = "/stores?limit=10"


class Pair(msgspec.Struct, frozen=True):
    """The 99th percentile of a client's waits, in seconds, without an attack and under one."""

    without: float
    under: float

    @property
    def ratio(self) -> float:
        """Under the attack over without."""
        return self.under / self.without


def percentiles(questions: Sequence[Question], seconds: float) -> list[float]:
    """Return for each question within how many seconds 99 of 100 answers come, asked in turn on a connection each.

    The time in which the client or the server was ready to run and had no core is taken off: the attacker has the
    client's core, and other programs may have both.
    """
    connections = [(HTTPConnection("127.0.0.1", each.port), each) for each in questions]
    waits: list[list[float]] = [[] for _ in questions]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for (connection, question), found in zip(connections, waits, strict=True):
            found.append(_wait(connection, question))
        time.sleep(_PAUSE_SECONDS)
    for connection, _ in connections:
        connection.close()
    return [sorted(found)[int(_SHARE * (len(found) - 1))] for found in waits]


def _wait(connection: HTTPConnection, question: Question) -> float:
    idle = core_wait("self") + core_wait(question.pid)
    begun = time.monotonic()
    connection.request("GET", question.target, headers={"x-api-key": KEY})
    connection.getresponse().read()
    seconds = time.monotonic() - begun
    return seconds - (core_wait("self") + core_wait(question.pid) - idle)

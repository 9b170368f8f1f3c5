"""The load on Redis, as walk.lua is that of wrk: `python -m bench.wire.resp_load PORT COMMANDS CONNECTIONS SECONDS`.

Each connection sends its next command after the reply to the one before. The output is that of walk.lua.
"""

import asyncio
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import cast

import msgspec
import uvloop

from bench.wire.resp import encode, is_complete, is_error


class _Tally:
    """The replies on all connections so far."""

    def __init__(self, commands: Iterator[bytes]) -> None:
        self.commands = commands
        self.nanoseconds: list[int] = []
        self.bytes = self.refused = self.broken = 0


class _Client(asyncio.Protocol):
    def __init__(self, tally: _Tally) -> None:
        self._tally = tally
        self._reply = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._reply += data
        if is_complete(self._reply):
            tally = self._tally
            tally.nanoseconds.append(perf_counter_ns() - self._began)
            tally.bytes += len(self._reply)
            tally.refused += is_error(self._reply)
            self._reply.clear()
            self._ask()

    def connection_lost(self, _: Exception | None) -> None:
        self._tally.broken += 1

    def _ask(self) -> None:
        self._began = perf_counter_ns()
        self._transport.write(next(self._tally.commands))


async def _run(port: int, commands: list[bytes], connections: int, seconds: float) -> dict[str, int]:
    tally = _Tally(cycle(commands))
    loop = asyncio.get_running_loop()
    began = perf_counter_ns()
    for _ in range(connections):
        await loop.create_connection(lambda: _Client(tally), "127.0.0.1", port)
    await asyncio.sleep(seconds)
    return {
        "requests": len(tally.nanoseconds),
        "microseconds": (perf_counter_ns() - began) // 1000,
        "bytes": tally.bytes,
        "refused": tally.refused,
        "broken": tally.broken,
        "strange": 0,
        "median_microseconds": int(median(tally.nanoseconds or [0])) // 1000,
    }


def main() -> None:
    """Run, then print."""
    port, commands, connections, seconds = sys.argv[1:]
    encoded = list(map(encode, Path(commands).read_text("utf-8").splitlines()))
    summary = uvloop.run(_run(int(port), encoded, int(connections), float(seconds)))
    print(msgspec.json.encode(summary).decode())


if __name__ == "__main__":
    main()

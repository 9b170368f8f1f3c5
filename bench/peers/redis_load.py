"""The load generator for Redis: `python -m bench.peers.redis_load PORT COMMANDS CONNECTIONS SECONDS`.

Each connection sends its next command after the reply to the one before. The output is that of wrk.lua.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Final, cast

import uvloop

# A member with its distance: an array of two, each with its length before it.
LINES_PER_MEMBER: Final = 5


def encode(command: str) -> bytes:
    """Return the bytes (RESP) of a command whose words are separated by spaces."""
    words = command.encode().split(b" ")
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def is_complete(reply: bytes) -> bool:
    """Return whether all lines of a reply have arrived: one line, or members with their distances."""
    if not reply.endswith(b"\r\n"):
        return False
    members = int(reply[1 : reply.index(b"\r\n")]) if reply.startswith(b"*") else 0
    return reply.count(b"\r\n") == 1 + LINES_PER_MEMBER * members


class _Client(asyncio.Protocol):
    """A connection; it appends the nanoseconds of each command, and whether the reply was an error, to a list."""

    def __init__(self, commands: Iterator[bytes], replies: list[tuple[int, bool]]) -> None:
        self._commands, self._replies, self._received = commands, replies, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if is_complete(self._received):
            self._replies.append((perf_counter_ns() - self._sent_at, self._received.startswith(b"-")))
            self._received = b""
            self._send()

    def _send(self) -> None:
        self._sent_at = perf_counter_ns()
        self._transport.write(next(self._commands))


async def _run(port: int, commands: Iterator[bytes], connections: int, seconds: float) -> dict[str, float]:
    replies: list[tuple[int, bool]] = []
    loop, started = asyncio.get_running_loop(), perf_counter_ns()
    clients = [
        await loop.create_connection(lambda: _Client(commands, replies), "127.0.0.1", port) for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    return {
        "requests": len(replies),
        "microseconds": (perf_counter_ns() - started) // 1000,
        "errors": sum(is_error for _, is_error in replies),
        "broken": sum(transport.is_closing() for transport, _ in clients),
        "median_microseconds": int(median(taken for taken, _ in replies or [(0, False)])) // 1000,
    }


if __name__ == "__main__":
    port, file, connections, seconds = sys.argv[1:]
    commands = cycle(map(encode, Path(file).read_text("utf-8").splitlines()))
    print(json.dumps(uvloop.run(_run(int(port), commands, int(connections), float(seconds)))))

"""Servers that are no Redis, or a bad one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Read on and say nothing."""
    while await reader.read(1024):
        pass


def hanging(until: asyncio.Event) -> Behaviour:
    """Return what says nothing until an event, and hangs up then."""

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await until.wait()
        writer.close()

    return hang


async def closing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hang up at once."""
    writer.close()


def saying(answer: bytes) -> Behaviour:
    """Return what answers anything with the same bytes."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            writer.write(answer)

    return say


def deciding(*answers: bytes) -> Behaviour:
    """Return what answers the scripts that it is to run with one answer after the other, and anything else with OK."""
    left = iter(answers)

    async def decide(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readline():  # the number of words, each of which has its length before it
            words = [await reader.readexactly(int((await reader.readline())[1:]) + 2) for _ in range(int(head[1:]))]
            writer.write(next(left) if words[0] == b"EVALSHA\r\n" else b"+OK\r\n")

    return decide


class Fake:
    """A server on a free port, which notes how often somebody connected."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self.connections = 0
        self.url = ""

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._behaviour(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Fake"]:
        """Serve until the test is over."""
        server = await asyncio.start_server(self._met, "127.0.0.1", 0)
        self.url = f"redis://user:the-secret@127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        try:
            yield self
        finally:
            server.close()

"""Servers that are not Redis, or a broken one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Read everything and never respond."""
    while await reader.read(1024):
        pass


def hanging(until: asyncio.Event) -> Behaviour:
    """Return a behaviour that never responds, and closes the connection after an event."""

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await until.wait()
        writer.close()

    return hang


async def closing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection at once."""
    writer.close()


def responding(answer: bytes) -> Behaviour:
    """Return a behaviour that responds to anything with the same bytes."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            writer.write(answer)

    return respond


def deciding(*answers: bytes) -> Behaviour:
    """Return a behaviour that responds to scripts with these answers in turn, and to anything else with OK."""
    left = iter(answers)

    async def decide(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readline():  # the number of words; each follows its length
            words = [await reader.readexactly(int((await reader.readline())[1:]) + 2) for _ in range(int(head[1:]))]
            writer.write(next(left) if words[0] == b"EVALSHA\r\n" else b"+OK\r\n")

    return decide


class Fake:
    """A server on a free port, which counts its connections."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self.connections = 0
        self.url = ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._behaviour(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Fake"]:
        """Serve until the block ends."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"redis://user:the-secret@127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        try:
            yield self
        finally:
            server.close()

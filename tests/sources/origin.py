"""An origin on a real socket that responds correctly, or to single requests with a given behaviour."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from typing import Final

LAST_MODIFIED: Final = "Sun, 06 Nov 1994 08:49:37 GMT"


class Origin:
    """The file that it serves, the requests that it received, and the ranges that it sent."""

    def __init__(self, content: bytes, tag: str | None = '"one"', modified: str | None = None) -> None:
        self.content, self.tag, self.modified = content, tag, modified
        self.usual: Behaviour = honest
        self.behaviours: deque[Behaviour] = deque()
        self.requests: list[Mapping[str, str]] = []
        self.sent: list[tuple[int, int]] = []
        self.url = ""
        self.steps: list[tuple[str, int, int]] = []
        self._progressed = asyncio.Event()

    def hold(self, content: bytes, tag: str | None) -> None:
        """Serve another file from now on."""
        self.content, self.tag = content, tag

    def will(self, *behaviours: "Behaviour") -> None:
        """Respond to the next requests with these behaviours, one each, and then as usual."""
        self.behaviours.extend(behaviours)

    @property
    def validators(self) -> dict[str, str]:
        headers = {"ETag": self.tag, "Last-Modified": self.modified}
        return {name: value for name, value in headers.items() if value is not None}

    def progress(self, step: str, done: int, total: int) -> None:
        """Record the progress of the download."""
        self.steps.append((step, done, total))
        self._progressed.set()

    async def received(self, count: int) -> None:
        """Wait until the client has received this many bytes."""
        while not self.steps or self.steps[-1][1] < count:
            self._progressed.clear()
            await self._progressed.wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, EOFError):
                first = await reader.readexactly(1)
                if not first.isalpha():  # TLS, say
                    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    return
                lines = (first + await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[:-1]
                headers = dict(line.split(": ", 1) for line in lines[1:])
                self.requests.append({"": lines[0], **headers})
                behaviour = self.behaviours.popleft() if self.behaviours else self.usual
                await behaviour(Exchange(self, headers, reader, writer))
                await writer.drain()
        finally:
            writer.close()


class Exchange:
    """A request, and methods to respond to it."""

    def __init__(
        self, origin: Origin, headers: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.origin, self.headers, self._reader, self._writer = origin, headers, reader, writer

    def head(self, status: str, **headers: object) -> None:
        """Send the head of a response; `_` in a name stands for `-`."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in {**self.origin.validators, **given}.items()]
        self._writer.write("\r\n".join([f"HTTP/1.1 {status}", *lines, "Connection: close", "", ""]).encode())

    async def send(self, piece: bytes) -> None:
        self._writer.write(piece)
        await self._writer.drain()

    async def send_file(self, start: int, stop: int) -> None:
        """Send these bytes of the file."""
        self.origin.sent.append((start, stop))
        await self.send(self.origin.content[start:stop])

    async def until_received(self, count: int) -> None:
        """Wait until the client has received this many bytes of the file, or has closed the connection."""
        waiting = {asyncio.create_task(self.origin.received(count)), asyncio.create_task(self.until_closed())}
        _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    async def until_closed(self) -> None:
        """Send nothing more until the client closes the connection."""
        with suppress(ConnectionError):
            await self._reader.read()

    @property
    def unchanged(self) -> bool:
        tag, modified = self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        return tag == self.origin.tag if tag else modified is not None and modified == self.origin.modified

    def begin(self) -> int:
        """Send the head of 200, or of 206 for the rest of an unchanged file; return the first byte to send."""
        content, ranges = self.origin.content, self.headers.get("Range", "")
        if not ranges or self.headers.get("If-Range") not in (None, self.origin.tag):
            self.head("200 OK", Content_Length=len(content))
            return 0
        start = int(ranges.removeprefix("bytes=").removesuffix("-"))
        place = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.head("206 Partial Content", Content_Range=place, Content_Length=len(content) - start)
        return start


Behaviour = Callable[[Exchange], Awaitable[None]]


async def honest(exchange: Exchange) -> None:
    """Respond as RFC 9110 requires."""
    if exchange.unchanged:
        exchange.head("304 Not Modified")
    else:
        await exchange.send_file(exchange.begin(), len(exchange.origin.content))


def alternating(*editions: bytes) -> Behaviour:
    """Serve the next of the files at each request; its tag is its index."""
    places = cycle(range(len(editions)))

    async def behaviour(exchange: Exchange) -> None:
        place = next(places)
        exchange.origin.hold(editions[place], f'"{place}"')
        await honest(exchange)

    return behaviour


async def ignoring_conditions(exchange: Exchange) -> None:
    """Send the whole file, ignoring conditions and ranges."""
    exchange.head("200 OK", Content_Length=len(exchange.origin.content))
    await exchange.send_file(0, len(exchange.origin.content))


async def closing(_: Exchange) -> None:
    """Close the connection at once."""


async def silent(exchange: Exchange) -> None:
    """Never respond."""
    await exchange.until_closed()


def status(line: str, **headers: object) -> Behaviour:
    """Respond with a status and no file."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head(line, Content_Length=0, **headers)

    return behaviour


def cut(at: int) -> Behaviour:
    """Close the connection when the client has received the file up to a byte."""

    async def behaviour(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)
        await exchange.until_received(at)

    return behaviour


def blind_cut(at: int) -> Behaviour:
    """Close the connection when the file is sent up to a byte."""

    async def behaviour(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)

    return behaviour


def stall(at: int) -> Behaviour:
    """Send the file up to a byte, and keep the connection open."""

    async def behaviour(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)
        await exchange.until_closed()

    return behaviour


def claiming(length: int) -> Behaviour:
    """Send the file with this Content-Length."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK", Content_Length=length)
        await exchange.send_file(0, min(length, len(exchange.origin.content)))

    return behaviour


def part(place: str) -> Behaviour:
    """Respond with 206 and a range that was not requested."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("206 Partial Content", Content_Range=place)
        await exchange.send(exchange.origin.content)

    return behaviour


def unframed(content: bytes) -> Behaviour:
    """Send a body that ends with the connection."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK")
        await exchange.send(content)

    return behaviour


def chunked(content: bytes) -> Behaviour:
    """Send a chunked body, without a length."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK", Transfer_Encoding="chunked")
        chunk = b"%x\r\n%b\r\n" % (len(content), content) if content else b""
        await exchange.send(chunk + b"0\r\n\r\n")

    return behaviour


def raw(answer: bytes) -> Behaviour:
    """Send these bytes as the response."""

    async def behaviour(exchange: Exchange) -> None:
        await exchange.send(answer)

    return behaviour


def endless(beginning: bytes) -> Behaviour:
    """Send a beginning and then zeros until the client closes the connection."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK")
        await exchange.send(beginning)
        while True:
            await exchange.send(bytes(1 << 16))

    return behaviour


@asynccontextmanager
async def serving(origin: Origin) -> AsyncIterator[Origin]:
    """Serve on a free port until the block ends."""
    server = await asyncio.start_server(origin.answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    origin.url = f"http://{host}:{port}/set.baked"
    async with server:
        yield origin

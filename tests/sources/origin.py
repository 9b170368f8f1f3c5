"""An origin on a real socket that answers as it should, or, for one request each, as it is told."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from typing import Final

LAST_MODIFIED: Final = "Sun, 06 Nov 1994 08:49:37 GMT"


class Origin:
    """What it serves, what it was asked, and which bytes of the file it sent."""

    def __init__(self, content: bytes, tag: str | None = '"one"', modified: str | None = None) -> None:
        self.content, self.tag, self.modified = content, tag, modified
        self.usual: Trick = honest
        self.tricks: deque[Trick] = deque()
        self.asked: list[Mapping[str, str]] = []
        self.sent: list[tuple[int, int]] = []
        self.url = ""
        self.steps: list[tuple[str, int, int]] = []
        self._moved = asyncio.Event()

    def hold(self, content: bytes, tag: str | None) -> None:
        """Serve another file from now on."""
        self.content, self.tag = content, tag

    def will(self, *tricks: "Trick") -> None:
        """Answer the next requests so, one each; those behind them as is usual."""
        self.tricks.extend(tricks)

    @property
    def validators(self) -> dict[str, str]:
        told = {"ETag": self.tag, "Last-Modified": self.modified}
        return {name: value for name, value in told.items() if value is not None}

    def progress(self, step: str, done: int, total: int) -> None:
        """Watch how far the download is."""
        self.steps.append((step, done, total))
        self._moved.set()

    async def received(self, count: int) -> None:
        """Wait until so many bytes have arrived."""
        while not self.steps or self.steps[-1][1] < count:
            self._moved.clear()
            await self._moved.wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, EOFError):
                first = await reader.readexactly(1)
                if not first.isalpha():  # TLS, say
                    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    return
                lines = (first + await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[:-1]
                headers = dict(line.split(": ", 1) for line in lines[1:])
                self.asked.append({"": lines[0], **headers})
                trick = self.tricks.popleft() if self.tricks else self.usual
                await trick(Exchange(self, headers, reader, writer))
                await writer.drain()
        finally:
            writer.close()


class Exchange:
    """A request and the ways to answer it."""

    def __init__(
        self, origin: Origin, headers: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.origin, self.headers, self._reader, self._writer = origin, headers, reader, writer

    def head(self, status: str, **headers: object) -> None:
        """Send the head of an answer; a name's `_` is `-`."""
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in {**self.origin.validators, **told}.items()]
        self._writer.write("\r\n".join([f"HTTP/1.1 {status}", *lines, "Connection: close", "", ""]).encode())

    async def send(self, piece: bytes) -> None:
        self._writer.write(piece)
        await self._writer.drain()

    async def send_file(self, start: int, stop: int) -> None:
        """Send these bytes of the file."""
        self.origin.sent.append((start, stop))
        await self.send(self.origin.content[start:stop])

    async def until_received(self, count: int) -> None:
        """Wait until so many bytes of the file have arrived, or the client has gone."""
        waiting = {asyncio.create_task(self.origin.received(count)), asyncio.create_task(self.until_left())}
        _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    async def until_left(self) -> None:
        """Send nothing more until the client has gone."""
        with suppress(ConnectionError):
            await self._reader.read()

    @property
    def unchanged(self) -> bool:
        tag, modified = self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        return tag == self.origin.tag if tag else modified is not None and modified == self.origin.modified

    def begin(self) -> int:
        """Send the head of 200, or of 206 where the rest of the same file is asked for; return where it begins."""
        content, asked = self.origin.content, self.headers.get("Range", "")
        if not asked or self.headers.get("If-Range") not in (None, self.origin.tag):
            self.head("200 OK", Content_Length=len(content))
            return 0
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        place = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.head("206 Partial Content", Content_Range=place, Content_Length=len(content) - start)
        return start


Trick = Callable[[Exchange], Awaitable[None]]


async def honest(exchange: Exchange) -> None:
    """Answer as RFC 9110 wants it."""
    if exchange.unchanged:
        exchange.head("304 Not Modified")
    else:
        await exchange.send_file(exchange.begin(), len(exchange.origin.content))


def alternating(*editions: bytes) -> Trick:
    """Hold another of the files at each request; the tag of one is its place."""
    places = cycle(range(len(editions)))

    async def trick(exchange: Exchange) -> None:
        place = next(places)
        exchange.origin.hold(editions[place], f'"{place}"')
        await honest(exchange)

    return trick


async def forgetful(exchange: Exchange) -> None:
    """Send all of the file, whatever is asked."""
    exchange.head("200 OK", Content_Length=len(exchange.origin.content))
    await exchange.send_file(0, len(exchange.origin.content))


async def closing(_: Exchange) -> None:
    """Close at once."""


async def silent(exchange: Exchange) -> None:
    """Answer nothing."""
    await exchange.until_left()


def status(told: str, **headers: object) -> Trick:
    """Answer a status without the file."""

    async def trick(exchange: Exchange) -> None:
        exchange.head(told, Content_Length=0, **headers)

    return trick


def cut(at: int) -> Trick:
    """Close when the file has arrived up to a byte."""

    async def trick(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)
        await exchange.until_received(at)

    return trick


def blind_cut(at: int) -> Trick:
    """Close when the file was sent up to a byte."""

    async def trick(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)

    return trick


def stall(at: int) -> Trick:
    """Send nothing behind a byte of the file, and do not close."""

    async def trick(exchange: Exchange) -> None:
        await exchange.send_file(exchange.begin(), at)
        await exchange.until_left()

    return trick


def claiming(length: int) -> Trick:
    """Say that the file is so long, and send what there is."""

    async def trick(exchange: Exchange) -> None:
        exchange.head("200 OK", Content_Length=length)
        await exchange.send_file(0, min(length, len(exchange.origin.content)))

    return trick


def part(place: str) -> Trick:
    """Answer 206 with a range that nobody asked for."""

    async def trick(exchange: Exchange) -> None:
        exchange.head("206 Partial Content", Content_Range=place)
        await exchange.send(exchange.origin.content)

    return trick


def unmarked(content: bytes) -> Trick:
    """Send bytes whose end nothing marks but the end of the connection."""

    async def trick(exchange: Exchange) -> None:
        exchange.head("200 OK")
        await exchange.send(content)

    return trick


def chunked(content: bytes) -> Trick:
    """Send bytes in chunks, with no word of how many there are."""

    async def trick(exchange: Exchange) -> None:
        exchange.head("200 OK", Transfer_Encoding="chunked")
        chunk = b"%x\r\n%b\r\n" % (len(content), content) if content else b""
        await exchange.send(chunk + b"0\r\n\r\n")

    return trick


def raw(answer: bytes) -> Trick:
    """Send these bytes as the answer."""

    async def trick(exchange: Exchange) -> None:
        await exchange.send(answer)

    return trick


def endless(beginning: bytes) -> Trick:
    """Send a beginning and then zeros until the client has gone."""

    async def trick(exchange: Exchange) -> None:
        exchange.head("200 OK")
        await exchange.send(beginning)
        while True:
            await exchange.send(bytes(1 << 16))

    return trick


@asynccontextmanager
async def serving(origin: Origin) -> AsyncIterator[Origin]:
    """Serve on a free port."""
    server = await asyncio.start_server(origin.answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    origin.url = f"http://{host}:{port}/set.baked"
    async with server:
        yield origin

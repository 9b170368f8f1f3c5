"""An origin on a real socket that responds correctly, or to single requests in a given way, and what a client gets."""

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from multidict import CIMultiDict

from service.background import silent as no_progress
from service.dataset import Rejected, Safeguards
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.source import Fetched, Unavailable
from service.publishing.transport import Transport

LAST_MODIFIED: Final = "Sun, 06 Nov 1994 08:49:37 GMT"


class Origin:
    """The file that it serves, and the requests that it received."""

    def __init__(self, content: bytes, tag: str | None = '"one"', modified: str | None = None) -> None:
        self.content, self.tag, self.modified = content, tag, modified
        self.behaviours: deque[Behaviour] = deque()
        self.requests: list[Mapping[str, str]] = []
        self.url = ""

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

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, EOFError):
                first = await reader.readexactly(1)
                if not first.isalpha():  # TLS, say
                    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    return
                lines = (first + await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[:-1]
                headers = CIMultiDict((name, value) for name, _, value in (line.partition(": ") for line in lines[1:]))
                self.requests.append(CIMultiDict({"": lines[0], **headers}))
                behaviour = self.behaviours.popleft() if self.behaviours else honest
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

    async def until_closed(self) -> None:
        """Send nothing more until the client closes the connection."""
        with suppress(ConnectionError):
            await self._reader.read()

    @property
    def unchanged(self) -> bool:
        tag, modified = self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        return tag == self.origin.tag if tag else modified is not None and modified == self.origin.modified


Behaviour = Callable[[Exchange], Awaitable[None]]


async def honest(exchange: Exchange) -> None:
    """Respond as RFC 9110 requires."""
    if exchange.unchanged:
        exchange.head("304 Not Modified")
    else:
        await ignoring_conditions(exchange)


async def ignoring_conditions(exchange: Exchange) -> None:
    """Send the whole file."""
    await cut(len(exchange.origin.content))(exchange)


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
    """Close the connection when the file is sent up to a byte."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK", Content_Length=len(exchange.origin.content))
        await exchange.send(exchange.origin.content[:at])

    return behaviour


def stall(at: int) -> Behaviour:
    """Send the file up to a byte, and keep the connection open."""

    async def behaviour(exchange: Exchange) -> None:
        await cut(at)(exchange)
        await exchange.until_closed()

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


def labelled(content: bytes, coding: str, length: int | None = None) -> Behaviour:
    """Send a body with a content coding, and a length, that of the body by default."""

    async def behaviour(exchange: Exchange) -> None:
        exchange.head("200 OK", Content_Encoding=coding, Content_Length=len(content) if length is None else length)
        await exchange.send(content)

    return behaviour


def raw(answer: bytes) -> Behaviour:
    """Send these bytes as the response."""

    async def behaviour(exchange: Exchange) -> None:
        await exchange.send(answer)

    return behaviour


@asynccontextmanager
async def serving(origin: Origin) -> AsyncIterator[Origin]:
    """Serve on a free port until the block ends."""
    server = await asyncio.start_server(origin.answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    origin.url = f"http://{host}:{port}/set.baked"
    async with server:
        yield origin


Received = tuple[str, bytes, int | None, bool]


async def received(transport: Transport, known: str = "", name: str = "") -> Received | None:
    """Return fingerprint, body, length and framing of a response; None if the file is still known."""
    async with transport.get(known, name) as remote:
        if remote is None:
            return None
        pieces = []
        while piece := await remote.read():
            pieces.append(piece)
        return remote.fingerprint, b"".join(pieces), remote.length, remote.is_framed


async def unavailable(transport: Transport) -> str:
    """Return why a file is not available."""
    with pytest.raises(Unavailable) as caught:
        await received(transport)
    return str(caught.value)


async def fetch(url: str, transport: Transport, folder: Path) -> Fetched | None:
    """Fetch a baked file, with a cache in a folder."""
    source = RemoteBakedFile(url, folder / "cache", transport, pauses=(0, 0))
    return await source.fetch(folder / "to", known='"none"', check=Safeguards().check, progress=no_progress)


async def check_secrets(url: str, transport: Transport, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Fetch; fail if a secret, which has `hush` in it, is in a message, the log or the cache."""
    caplog.set_level(logging.DEBUG)
    messages = ""
    try:
        await fetch(url, transport, folder)
    except (Rejected, Unavailable) as error:
        messages = "".join(traceback.format_exception(error))
    cached = [f"{path.name}: {path.read_bytes()!r}" for path in (folder / "cache").glob("*")]
    assert bool(cached) is not bool(messages)
    assert "hush" not in "\n".join([messages, caplog.text, *cached])

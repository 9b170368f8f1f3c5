"""A transport without a network, which sends the file that it holds, or single responses with a given behaviour."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import chain, cycle, repeat

from service.publishing.source import Unavailable
from service.publishing.transport import CutOff, RemoteFile

_PIECE = 1 << 16


class FakeTransport:
    """The file that it holds, and the fingerprints that were known in each request for it."""

    def __init__(self, content: bytes, tag: str = '"one"') -> None:
        self.content, self.tag = content, tag
        self.usual: Response = honest
        self.responses: deque[Response] = deque()
        self.asked: list[str] = []
        self.files: dict[str, FakeTransport] = {}  # in the folder at the URL

    def hold(self, content: bytes, tag: str) -> None:
        """Hold another file from now on; the tag "" is none."""
        self.content, self.tag = content, tag

    def will(self, *responses: "Response") -> None:
        """Respond to the next requests in these ways, one each, and then as usual."""
        self.responses.extend(responses)

    @asynccontextmanager
    async def get(self, known: str, name: str = "") -> AsyncIterator[RemoteFile | None]:
        if name and name not in self.files:
            raise Unavailable("404 Not Found")
        yield await (self.files[name] if name else self).respond(known)

    async def respond(self, known: str) -> RemoteFile | None:
        self.asked.append(known)
        await asyncio.sleep(0)
        return (self.responses.popleft() if self.responses else self.usual)(self, known)


Response = Callable[[FakeTransport, str], RemoteFile | None]


def _pieces(content: bytes) -> list[bytes]:
    return [content[start : start + _PIECE] for start in range(0, len(content), _PIECE)]


def _file(tag: str, pieces: Iterable[bytes], *, length: int | None = None, framed: bool = True) -> RemoteFile:
    rest = iter(pieces)

    async def read() -> bytes:
        await asyncio.sleep(0)
        return next(rest, b"")

    return RemoteFile(tag, length, framed, read)


def honest(transport: FakeTransport, known: str) -> RemoteFile | None:
    """Send the file with its length unless it is known."""
    if known and known == transport.tag:
        return None
    return _file(transport.tag, _pieces(transport.content), length=len(transport.content))


def alternating(*editions: bytes) -> Response:
    """Send the next of the files at each request; its tag is its index."""
    places = cycle(range(len(editions)))

    def respond(transport: FakeTransport, known: str) -> RemoteFile | None:
        place = next(places)
        transport.hold(editions[place], f'"{place}"')
        return honest(transport, known)

    return respond


def chunked(content: bytes) -> Response:
    """Send a body that has an end, but no length."""
    return lambda transport, _: _file(transport.tag, _pieces(content))


def unframed(content: bytes) -> Response:
    """Send a body that ends with the connection."""
    return lambda transport, _: _file(transport.tag, _pieces(content), framed=False)


def claiming(length: int) -> Response:
    """Send the file with this length."""
    return lambda transport, _: _file(transport.tag, _pieces(transport.content[:length]), length=length)


def endless(beginning: bytes, length: int | None = None) -> Response:
    """Send a beginning, and then zeros, whatever the length."""
    zeros = repeat(bytes(_PIECE))
    return lambda transport, _: _file(transport.tag, chain(_pieces(beginning), zeros), length=length, framed=False)


def cut(at: int) -> Response:
    """Send the file up to a byte."""

    def respond(transport: FakeTransport, _: str) -> RemoteFile:
        return _file(transport.tag, _broken(transport.content[:at]), length=len(transport.content))

    return respond


def _broken(content: bytes) -> Iterable[bytes]:
    yield from _pieces(content)
    raise CutOff("the response was cut off")


def failing(error: Exception) -> Response:
    """Raise an error instead of a response."""

    def respond(*_: object) -> RemoteFile:
        raise error

    return respond

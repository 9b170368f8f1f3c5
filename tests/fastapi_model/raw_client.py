"""Requests to the service on a socket, and to its model."""

import asyncio
import re
from collections.abc import Container, Iterable, MutableMapping
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from service.model.operation import IGNORED_HEADER, KEY_HEADER
from tests.web.live import KEY, Client

if TYPE_CHECKING:  # it takes 0.4 s to import, in each process of a run of all tests
    from fastapi import FastAPI

STRICT: Final = "/strict"  # the prefix of the paths of requests that prefer it
_IGNORED: Final = re.compile(rf"\r\n{IGNORED_HEADER}: ([^\r]*)\r\n".encode())
_LENGTH: Final = re.compile(rb"\r\nContent-Length: ([0-9]+)\r\n")
_CHUNKED: Final = b"\r\nTransfer-Encoding: chunked\r\n"
_STAYS_OPEN: Final = (200, 404, 422)


class RawAnswer(NamedTuple):
    """The status and the body of a response, and the parameters that it names as ignored."""

    status: int
    body: bytes
    ignored: bytes = b""


class RawClient:
    """Sends requests to the service, on one connection as long as it stays open."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, path: str, query: bytes, *, strict: bool = False, accept: str = "") -> RawAnswer:
        """Send a query unchanged."""
        reader, writer = self._streams = self._streams or await self._connect()
        prefer = b"Prefer: handling=strict\r\n" if strict else b""
        writer.write(b"GET %b?%b HTTP/1.1\r\nHost: test\r\n%b" % (path.encode(), query, prefer))
        wanted = f"Accept: {accept}\r\n" if accept else ""
        writer.write(f"{wanted}{KEY_HEADER}: {KEY}\r\n\r\n".encode())
        async with asyncio.timeout(60):
            head = await reader.readuntil(b"\r\n\r\n")
            body, ignored = await _body(reader, head), _IGNORED.search(head)
        answer = RawAnswer(int(head.split(b" ", 2)[1]), body, ignored[1] if ignored else b"")
        if answer.status not in _STAYS_OPEN:
            await self.close()
        return answer

    async def close(self) -> None:
        """Close the connection, if any."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            writer.close()
            await writer.wait_closed()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._client.host, self._client.port)


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """Read the body that a head announces."""
    if _CHUNKED not in head:
        length = _LENGTH.search(head)
        assert length is not None, head
        return await reader.readexactly(int(length[1]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        assert await reader.readline() == b"\r\n"
    assert await reader.readline() == b"\r\n"
    return body


async def send_to_model(
    model: "FastAPI", path: str, query: bytes, *, strict: bool = False, accept: str = ""
) -> RawAnswer:
    """Send a request to the model, as an ASGI server would, but with the raw path: Starlette does not support `%2F`."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    whole = STRICT + path if strict else path
    headers = [(b"accept", accept.encode())] if accept else []
    scope = {"type": "http", "method": "GET", "path": whole, "headers": headers, "http_version": "1.1"}
    await model({**scope, "query_string": query}, receive, send)
    start, *rest = sent
    ignored = dict(start["headers"]).get(IGNORED_HEADER.lower().encode(), b"")
    return RawAnswer(start["status"], b"".join(message.get("body", b"") for message in rest), ignored)


_UNESCAPED: Final = f"{ascii_letters}{digits}!#$&'*+-.^_`|~"


def ignored(names: Iterable[str], known: Container[str]) -> str:
    """Return the value of the field of a request with some names of parameters, the empty text if it has none."""
    listed = ""
    for name in dict.fromkeys(names):
        escaped = "".join(chr(byte) if chr(byte) in _UNESCAPED else f"%{byte:02X}" for byte in name.encode())
        longer = f"{listed}, {escaped}" if listed else escaped
        if escaped and name not in known and len(longer) <= 256 and longer.count(",") < 8:
            listed = longer
    return listed

"""Raw responses, parsed from the bytes on the wire."""

import gzip
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO, Final

import brotli
import msgspec
import orjson
from multidict import CIMultiDict, CIMultiDictProxy

from service.model.operation import KEY_HEADER
from tests.web.live import KEY, Client, exchange

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODERS: Final = {"gzip": gzip.decompress, "br": brotli.decompress, "zstd": zstd.decompress}
_BODILESS: Final = (204, 304)
_START: Final = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) [^\r\n]*\r\n")
_LINE_END: Final = b"\r\n"


class Reply(msgspec.Struct, frozen=True):
    """Status, header fields and body of a response."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes

    @property
    def etag(self) -> str:
        """Its one entity tag."""
        (tag,) = self.headers.getall("ETag")
        return tag

    @property
    def coding(self) -> str:
        """The coding of its body, `identity` by default."""
        return self.headers.get("Content-Encoding", "identity")

    @property
    def plain(self) -> bytes:
        """Its decoded body."""
        decoded: bytes = self.body if self.coding == "identity" else DECODERS[self.coding](self.body)
        return decoded

    def json(self) -> Any:
        """Return its body as JSON."""
        return orjson.loads(self.plain)

    def listed(self, name: str) -> set[str]:
        """Return the members of a header field that is a list of tokens, in lower case."""
        return {member.strip().lower() for line in self.headers.getall(name, ()) for member in line.split(",")}


class RequestSpec(msgspec.Struct, frozen=True):
    """A request to send; without the key if that is empty."""

    target: str
    fields: tuple[str, ...] = ()
    method: str = "GET"
    key: str = KEY

    async def send(self, client: Client, *more: str) -> Reply:
        """Send it, with more header fields, and return the response."""
        return await ask(client, self.target, *self.fields, *more, method=self.method, key=self.key)


def request(target: str, *fields: str, method: str = "GET", key: str = KEY) -> bytes:
    """Return the bytes of a request; without the key if that is empty."""
    lines = [f"{method} {target} HTTP/1.1", "Host: test", *fields, *([f"{KEY_HEADER}: {key}"] if key else [])]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "surrogateescape")


async def ask(client: Client, target: str, *fields: str, method: str = "GET", key: str = KEY) -> Reply:
    """Send a request with these header fields and the key, and return the response."""
    (reply,) = await ask_all(client, request(target, *fields, "Connection: close", method=method, key=key))
    return reply


async def ask_all(client: Client, *requests: bytes) -> list[Reply]:
    """Send pipelined requests, of which the last closes the connection, and return all responses."""
    heads = [written.startswith(b"HEAD ") for written in requests]
    return list(_replies(await exchange(client, b"".join(requests)), heads))


def _replies(answers: bytes, heads: list[bool]) -> Iterator[Reply]:
    rest = BytesIO(answers)
    for head in heads:
        yield read_reply(rest, has_body=not head)
    answers = rest.read()
    assert not answers, "there are bytes after the last response"


def read_reply(rest: BinaryIO, *, has_body: bool, may_end: bool = False) -> Reply:
    """Read a response; if it may, a body without a length ends with the connection (RFC 9112 section 6.3)."""
    start = rest.readline()
    found = _START.fullmatch(start)
    assert found is not None, f"{start!r} is no status line"
    headers: CIMultiDict[str] = CIMultiDict()
    while (line := rest.readline()) != _LINE_END:
        name, colon, value = line.decode("latin-1").partition(":")
        assert colon, f"{line!r} is no header field"
        headers.add(name, value.strip(" \t\r\n"))
    status, body = int(found[1]), b""
    if has_body and status not in _BODILESS:
        chunked, length = "Transfer-Encoding" in headers, headers.get("Content-Length")
        assert may_end or chunked != (length is not None)
        body = b"".join(_chunks(rest)) if chunked else rest.read() if length is None else _exactly(rest, int(length))
    return Reply(status, CIMultiDictProxy(headers), body)


def _chunks(rest: BinaryIO) -> Iterator[bytes]:
    """Yield the chunks of a body (RFC 9112 section 7.1)."""
    while size := int(rest.readline(), 16):
        yield _exactly(rest, size)
        assert rest.readline() == _LINE_END, "a chunk is longer than it says"
    assert rest.readline() == _LINE_END


def _exactly(rest: BinaryIO, length: int) -> bytes:
    body = rest.read(length)
    assert len(body) == length, f"the body has {len(body)} bytes of {length}"
    return body

"""Raw responses, parsed from the bytes on the wire."""

import gzip
import sys
from collections.abc import Iterator
from typing import Any, Final

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
    for head in heads:
        lines, blank, answers = answers.partition(b"\r\n\r\n")
        assert blank, "a response is missing"
        start, *fields = lines.decode("latin-1").split("\r\n")
        headers = CIMultiDict(_field(field) for field in fields)
        status = int(start.split(" ", 2)[1])
        length = 0 if head or status in _BODILESS else int(headers["Content-Length"])
        body, answers = answers[:length], answers[length:]
        assert len(body) == length, "a response is truncated"
        yield Reply(status, CIMultiDictProxy(headers), body)
    assert not answers, "there are bytes after the last response"


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.strip(" \t")

"""An answer as it came over the wire, to the byte."""

import gzip
import sys
from collections.abc import Iterator
from typing import Any, Final

import brotli
import msgspec
import orjson
from multidict import CIMultiDict, CIMultiDictProxy

from service.web.auth import KEY_HEADER
from tests.web.live import KEY, Client, exchange

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODERS: Final = {"gzip": gzip.decompress, "br": brotli.decompress, "zstd": zstd.decompress}
_BODILESS: Final = (204, 304)


class Reply(msgspec.Struct, frozen=True):
    """Status, header fields and body of an answer."""

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
        """The coding of its body, `identity` where there is none."""
        return self.headers.get("Content-Encoding", "identity")

    @property
    def plain(self) -> bytes:
        """Its body without the coding."""
        decoded: bytes = self.body if self.coding == "identity" else DECODERS[self.coding](self.body)
        return decoded

    def json(self) -> Any:
        """Return what its body says."""
        return orjson.loads(self.plain)

    def listed(self, name: str) -> set[str]:
        """Return the members of a header field that is a list of tokens, in small letters."""
        return {member.strip().lower() for line in self.headers.getall(name, ()) for member in line.split(",")}


class Asked(msgspec.Struct, frozen=True):
    """A request, but for the connection; an empty key is left out."""

    target: str
    fields: tuple[str, ...] = ()
    method: str = "GET"
    key: str = KEY

    async def of(self, client: Client, *more: str) -> Reply:
        """Ask it once, with more header fields."""
        return await ask(client, self.target, *self.fields, *more, method=self.method, key=self.key)


def request(target: str, *fields: str, method: str = "GET", key: str = KEY) -> bytes:
    """Return a request as it is written on the wire; an empty key is left out."""
    lines = [f"{method} {target} HTTP/1.1", "Host: test", *fields, *([f"{KEY_HEADER}: {key}"] if key else [])]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "surrogateescape")


async def ask(client: Client, target: str, *fields: str, method: str = "GET", key: str = KEY) -> Reply:
    """Ask once, with just these header fields and the key."""
    (reply,) = await ask_all(client, request(target, *fields, "Connection: close", method=method, key=key))
    return reply


async def ask_all(client: Client, *requests: bytes) -> list[Reply]:
    """Send requests at once on one connection, the last of which closes it, and return the answers, in full."""
    heads = [written.startswith(b"HEAD ") for written in requests]
    return list(_replies(await exchange(client, b"".join(requests)), heads))


def _replies(answers: bytes, heads: list[bool]) -> Iterator[Reply]:
    for head in heads:
        lines, blank, answers = answers.partition(b"\r\n\r\n")
        assert blank, "an answer is missing"
        start, *fields = lines.decode("latin-1").split("\r\n")
        headers = CIMultiDict(_field(field) for field in fields)
        status = int(start.split(" ", 2)[1])
        length = 0 if head or status in _BODILESS else int(headers["Content-Length"])
        body, answers = answers[:length], answers[length:]
        assert len(body) == length, "an answer is cut"
        yield Reply(status, CIMultiDictProxy(headers), body)
    assert not answers, "there is more than the answers"


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.strip(" \t")

"""A request, its bytes on the wire, and connections on which several are sent at once."""

import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from tests.composition.configurations import KEY
from tests.composition.target import Target
from tests.program import SECONDS
from tests.run.load_clients import other_end
from tests.web.reply import Reply, read_reply

_TAG: Final = re.compile('"[^"]*"')
REQUEST_ID: Final = "X-Request-Id"
HTTP_1_0: Final = "HTTP/1.0"
HTTP_1_1: Final = "HTTP/1.1"
NO_FIELDS: Final[Mapping[str, str]] = MappingProxyType({})


class Request(msgspec.Struct, frozen=True):
    """A request without what depends on the connection.

    named     the pair of the query with a key, however it is written, and `named_at`, its place among the others
    """

    target: Target
    method: str = "GET"
    fields: Mapping[str, str] = NO_FIELDS
    body: bytes = b""
    named: str = ""
    named_at: int = 0

    @property
    def address(self) -> str:
        """The target as it is sent, with the pair of the key."""
        before, behind = self.target.pairs[: self.named_at], self.target.pairs[self.named_at :]
        pairs = (*before, self.named, *behind) if self.named else self.target.pairs
        return str(msgspec.structs.replace(self.target, pairs=pairs))

    @property
    def keys(self) -> Sequence[str]:
        """The keys that it has, in a header field and in the query."""
        return [key for key in (self.field(KEY), unquote(self.named.partition("=")[2])) if key]

    @property
    def key(self) -> str:
        """Its one key, the empty text if it has none or two."""
        return self.keys[0] if len(self.keys) == 1 else ""

    def field(self, name: str) -> str:
        """Return the value of a header field, the empty text if it is absent."""
        return self.fields.get(name, "")

    @property
    def tags(self) -> list[str]:
        """The entity tags that its conditions name."""
        return _TAG.findall(self.field("If-Match") + self.field("If-None-Match"))


class Sent(msgspec.Struct, frozen=True):
    """A request that was sent.

    number      in the run, 0 while waiting for a reload
    service     the name of the service
    version     of HTTP
    connection  its Connection field, if any
    contended   whether one with the same key may be answered at the same time
    """

    number: int
    service: str
    request: Request
    version: str = HTTP_1_1
    connection: str = ""
    contended: bool = False

    @property
    def identifier(self) -> str:
        """The identifier of the request, which its reply repeats."""
        return f"composition-{self.number}"

    @property
    def persists(self) -> bool:
        """Whether the client wants to keep the connection (RFC 9112 section 9.3)."""
        return self.connection != "close" if self.version == HTTP_1_1 else self.connection.lower() == "keep-alive"

    @property
    def wire(self) -> bytes:
        """Its bytes."""
        return self.head.encode() + self.request.body

    @property
    def head(self) -> str:
        """Its request line and header fields, up to the empty line."""
        request = self.request
        framing = {"Content-Length": str(len(request.body))} if request.body else {}
        fields = {"Host": "test", REQUEST_ID: self.identifier, **request.fields, **framing}
        if self.connection:
            fields["Connection"] = self.connection
        lines = (
            f"{request.method} {request.address} {self.version}",
            *(f"{name}: {value}" for name, value in fields.items()),
        )
        return "".join(f"{line}\r\n" for line in (*lines, ""))

    def __str__(self) -> str:
        """Return the request for a message."""
        lines = self.head.rstrip().splitlines()
        return f"request {self.number}, to {self.service}:\n" + "\n".join(f"  > {line}" for line in lines)


class Pipeline:
    """A connection with HTTP pipelining (RFC 9112 section 9.3.2)."""

    def __init__(self, address: str) -> None:
        at = urlsplit(address)
        self._connected = socket.create_connection((at.hostname, at.port), SECONDS)
        self._connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._connected.makefile("rb")

    @property
    def socket(self) -> int:
        """The inode of the socket at its other end."""
        return other_end(self._connected)

    def send(self, requests: Iterable[Sent]) -> None:
        """Write requests, all at once."""
        self._connected.sendall(b"".join(sent.wire for sent in requests))

    def receive(self, sent: Sent) -> Reply:
        """Read the reply to the next request."""
        try:
            has_body, may_end = sent.request.method != "HEAD", sent.version == HTTP_1_0
            return read_reply(self._replies, has_body=has_body, may_end=may_end)
        except AssertionError as error:
            error.add_note(str(sent))
            raise

    def wait(self) -> None:
        """Wait until a worker has accepted it."""
        self._connected.sendall(b"GET /health HTTP/1.1\r\nHost: test\r\n\r\n")
        read_reply(self._replies, has_body=True)

    def document(self, tags: Iterable[str]) -> Reply:
        """Return /openapi.json, or 304 if one of some tags is current."""
        head = f"GET /openapi.json HTTP/1.1\r\nHost: test\r\nIf-None-Match: {', '.join(tags)}\r\n\r\n"
        self._connected.sendall(head.encode())
        return read_reply(self._replies, has_body=True)

    def ends(self) -> bool:
        """Return whether the server has closed it."""
        return self._replies.read(1) == b""

    def close(self) -> None:
        """Close it."""
        self._replies.close()
        self._connected.close()

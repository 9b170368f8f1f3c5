"""A request with the header fields of the one before is read as aiohttp's parser reads it."""

from functools import cached_property
from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from service.model.errors import Unauthorized
from service.web.connections.framing import read_request
from service.web.connections.heads import HeadReader, RejectedHead, RepeatedFields
from service.web.http.request import VARYING, Request, RequestFields
from tests.thoroughness import some_of

pytestmark = pytest.mark.slow

BLOCK = b"\r\nHost: t\r\nx-api-key: a\r\nAccept: */*\r\n\r\n"
FIRST = b"GET / HTTP/1.1"
PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7F)
TARGETS = st.text(st.sampled_from("/?#%&=+.~:@!$'()*,;-_aB0 \\\"<>[]^`{|}") | PRINTABLE).map(lambda rest: f"/{rest}")
METHODS = st.sampled_from(["GET", "HEAD", "POST", "get", "BREW", "GETS"])
VERSIONS = st.sampled_from(["HTTP/1.1"] * 5 + ["HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 "])


def read(received: bytearray, heads: HeadReader | None = None) -> Request | None:
    """Return the request that the parser reads, None if it rejects the head."""
    message = (heads or HeadReader()).read(received, ended=True)
    return None if message is None or isinstance(message, RejectedHead) else read_request(message, received, "peer")[0]


def after(first: bytes) -> RepeatedFields:
    """Return the fields of a first request, which was answered."""
    repeated, heads = RepeatedFields(), HeadReader()
    request = read(bytearray(first), heads)
    if request is not None:
        attributes(request)
        repeated.remember(heads.last, request)
    return repeated


def found(repeated: RepeatedFields, received: bytearray) -> Request | None:
    """Return the request whose fields are those of the first one, and remove it; None if it is for the parser."""
    line = repeated.find(received)
    request = None if line is None else repeated.read(line, "peer")
    if request is not None:
        del received[: repeated.end]
    return request


def attributes(request: Request | None) -> object:
    """Return everything that the service reads of a request."""
    if request is None:
        return None
    names = [name for name in dir(request.fields) if not name.startswith("_") and name not in ("all", "replace")]
    of_fields = {name: _member(request.fields, name) for name in names}
    rest = (request.version, request.remote, request.keep_alive, request.error)
    return request.line, request.method, request.path, request.query, list(request.fields.all.items()), of_fields, *rest


def _member(fields: RequestFields, name: str) -> object:
    try:
        return getattr(fields, name)
    except Unauthorized as error:
        return str(error)


def check(repeated: RepeatedFields, head: bytes) -> None:
    """Check that what is read of a head, if anything, is what the parser reads, and that only this is removed."""
    received, rest = bytearray(head + b"more"), bytearray(head + b"more")
    request = found(repeated, received)
    if request is None:
        assert received == head + b"more"
    else:
        assert attributes(request) == attributes(read(rest))
        assert received == rest


@given(METHODS, TARGETS, VERSIONS)
def test_what_is_read_is_what_the_parser_reads(method: str, target: str, version: str) -> None:
    check(after(FIRST + BLOCK), f"{method} {target} {version}".encode() + BLOCK)


NAMES = [
    *VARYING,
    *("if-none-match", "x-request-ID", "Traceparent", "x-forwarded-for"),
    *("x-api-key", "Accept", "Accept-Encoding", "Prefer", "Origin", "If-Match", "X-Dataset-Version", "X-Other"),
    *("Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade"),
]
TRACES = [f"00-{digit * 32}-b7ad6b7169203331-01" for digit in "12"]
PLAIN = ["a", "b", "a b", '"a", "b"', "a:b", "sd_0123456789abcdefghij", "handling=strict", "gzip", "a\r\n b", *TRACES]
ODD = [
    *("", " ", "a ", "a  b", "a\tb", "\ta", " a", ":a", "\u00e4", "\x7f", "a\x7f", "\0", "a\0b", "a" * 300, "a" * 9000),
    *("a\rb", "a\nb", "a\n", "a\r", "a\r\n b", "a\r\n\tb", "\r\n b", "a\nConnection: close", "a\rb: c", "a\u00e4"),
    *("a\r\nb: c", "a\r\nContent-Length: 4", "a\r\nIf-None-Match: b", "a\r\n\r\nGET / HTTP/1.1\r\nHost: t"),
    *("close", "chunked", "0", "4", "100-continue", "websocket"),
]
Line = tuple[str, str, str]
VALUES = st.lists(st.sampled_from(PLAIN) | st.sampled_from(PLAIN + ODD), min_size=3, max_size=3)


def block(*lines: Line) -> bytes:
    return "\r\n".join((FIRST.decode(), "Host: t", *("".join(line) for line in lines), "", "")).encode()


@pytest.mark.parametrize("name", NAMES)
def test_a_field_with_another_value_is_read_as_the_parser_reads_it(name: str) -> None:
    for first in some_of(PLAIN, 3, NAMES.index(name)):
        for second, others in product(PLAIN + ODD, ((), (("X-Request-Id", ": ", "c"),))):
            check(after(block((name, ": ", first), *others)), block((name, ": ", second), *others))


@given(st.lists(st.sampled_from(VARYING), max_size=3), VALUES, VALUES, VALUES)
def test_fields_with_other_values_are_read_as_the_parser_reads_them(
    names: list[str], first: list[str], second: list[str], third: list[str]
) -> None:
    first_block, *others = (
        block(*((name, ": ", value) for name, value in zip(names, values, strict=False)))
        for values in (first, second, third)
    )
    repeated = after(first_block)
    for other in others:
        check(repeated, other)


@pytest.mark.parametrize("name", [*VARYING, "if-none-match", "X-REQUEST-ID"])
def test_another_value_of_a_field_that_differs_between_requests_is_read(name: str) -> None:
    repeated = after(block((name, ": ", "a"), ("Accept", ": ", "*/*")))
    for value in ("b", '"c", W/"d"', TRACES[0], TRACES[1], "Sun, 06 Nov 1994 08:49:37 GMT", "e" * 1000):
        head = block((name, ": ", value), ("Accept", ": ", "*/*"))
        check(repeated, head)
        request = found(repeated, bytearray(head))
        assert request is not None
        assert request.fields.all[name] == value


def test_fields_are_kept_while_all_values_are_the_same() -> None:
    head = block(("X-Request-Id", ": ", "a"))
    repeated = after(head)
    first, second = found(repeated, bytearray(head)), found(repeated, bytearray(head))
    assert first is not None
    assert second is not None
    assert first.fields is second.fields


class Recording(CIMultiDictProxy[str]):
    """Header fields that record the names of those whose values are read, in lower case."""

    read: set[str]

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key.lower())
        return super().get(key, default)

    def getall(self, key: str, default: Any = ()) -> Any:
        self.read.add(key.lower())
        return super().getall(key, default)

    def __getitem__(self, key: str) -> str:
        self.read.add(key.lower())
        return super().__getitem__(key)


def test_no_property_that_is_kept_depends_on_a_value_that_differs_between_requests() -> None:
    fields = Recording(CIMultiDict({"x-api-key": "a", "Prefer": "b", **dict.fromkeys(VARYING, "c")}))
    fields.read, own = set(), {name.lower() for name in VARYING}
    request_fields = RequestFields(fields)
    assert fields.read & own == {"x-request-id"}  # which `replace` reads again
    fields.read.clear()
    kept = [name for name, each in vars(RequestFields).items() if isinstance(each, cached_property)]
    for name in kept:
        getattr(request_fields, name)
    assert "credential" in kept
    assert fields.read.isdisjoint(own)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x-api-key: a", "x-api-key: b"),
        ("Connection: keep-alive", "Connection: close"),
        ("X-Request-Id: a\r\nX-Request-Id: a", "X-Request-Id: b\r\nX-Request-Id: a"),
        ("X-Request-Id: a\r\nx-request-id: b", "X-Request-Id: a\r\nx-request-id: c"),
        ("X-Request-Id: a", "x-request-id: b"),
        ("X-Request-Id: a", "X-Request-Id:b"),
        ("X-Request-Id: a", "X-Request-Id : b"),
        ("XX-Request-Id: a", "XX-Request-Id: b"),
        ("X-Request-Id-2: a", "X-Request-Id-2: b"),
        ("tracestate: a\r\n" * 60 + "X-Request-Id: a", "tracestate: a\r\n" * 60 + "X-Request-Id: b"),
        ("XX-Request-Id: a\r\nX-Request-Id: a", "XX-Request-Id: b\r\nX-Request-Id: a"),
    ],
)
def test_any_other_difference_is_left_to_the_parser(first: str, second: str) -> None:
    head = f"GET / HTTP/1.1\r\nHost: t\r\n{first}\r\n\r\n".encode()
    repeated = after(head)
    assert found(repeated, bytearray(head)) is not None
    assert found(repeated, bytearray(head.replace(first.encode(), second.encode()))) is None


def test_an_ordinary_target_is_read_but_not_after_a_request_that_may_not_be_repeated() -> None:
    for target in ("/", "/stores?city=S%C3%A3o&a=b+c", "/companies/a%2Fb", "/x?", "/?a=/b?c", "/%zz"):
        assert found(after(FIRST + BLOCK), bytearray(f"GET {target} HTTP/1.1".encode() + BLOCK)) is not None
    for field in (
        *(b"Connection: close", b"Content-Length: 0", b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        *(b"Connection: upgrade\r\nUpgrade: websocket", b"a: " + b"b" * 3000),
    ):
        head = FIRST + b"\r\n" + field + BLOCK
        assert found(after(head), bytearray(head)) is None


def test_a_head_in_several_packets_is_not_repeated() -> None:
    heads, received = HeadReader(), bytearray()
    for part in (FIRST + b"\r\nConnection: close", BLOCK):
        received += part
        message = heads.read(received, ended=False)
    assert message is not None
    assert heads.last == b""

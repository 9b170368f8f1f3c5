"""A request with the header fields of the one before is read as aiohttp's parser reads it."""

import pytest
from hypothesis import given, strategies as st

from service.web.connections.heads import HeadReader
from service.web.connections.parse_errors import RejectedHead
from service.web.connections.request import RepeatedFields, Request, read_request

BLOCK = b"\r\nHost: t\r\nx-api-key: a\r\nAccept: */*\r\n\r\n"
FIRST = b"GET / HTTP/1.1"
PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7F)
TARGETS = st.text(st.sampled_from("/?#%&=+.~:@!$'()*,;-_aB0 \\\"<>[]^`{|}") | PRINTABLE).map(lambda rest: f"/{rest}")
METHODS = st.sampled_from(["GET", "HEAD", "POST", "get", "BREW", "GETS"])
VERSIONS = st.sampled_from(["HTTP/1.1"] * 5 + ["HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 "])


def parsed(head: bytes) -> Request | None:
    """Return the request that the parser reads, None if it rejects the head."""
    received = bytearray(head)
    message = HeadReader().read(received, ended=True)
    return None if message is None or isinstance(message, RejectedHead) else read_request(message, received, "peer")[0]


def after(first: bytes) -> RepeatedFields:
    """Return the fields of a first request."""
    repeated, request = RepeatedFields(), parsed(first)
    assert request is not None
    repeated.remember(first, request)
    return repeated


def attributes(request: Request | None) -> object:
    if request is None:
        return None
    fields = list(request.fields.all.items())
    rest = (request.version, request.remote, request.keep_alive, request.error)
    return request.method, request.path, request.query, fields, *rest


@given(METHODS, TARGETS, VERSIONS)
def test_what_is_read_is_what_the_parser_reads(method: str, target: str, version: str) -> None:
    head = f"{method} {target} {version}".encode() + BLOCK
    received = bytearray(head + b"more")
    request = after(FIRST + BLOCK).read(received)
    if request is None:
        assert received == head + b"more"
    else:
        assert attributes(request) == attributes(parsed(head))
        assert received == b"more"


@pytest.mark.parametrize("target", ["/", "/stores?city=S%C3%A3o&a=b+c", "/companies/a%2Fb", "/x?", "/?a=/b?c", "/%zz"])
def test_an_ordinary_target_is_read(target: str) -> None:
    assert after(FIRST + BLOCK).read(bytearray(f"GET {target} HTTP/1.1".encode() + BLOCK)) is not None


@pytest.mark.parametrize("target", ["//x", "/#", "/\\", "*", "http://t/", "", "/ x", "/\u00e4", "/" + "a" * 4000])
def test_an_odd_target_is_left_to_the_parser(target: str) -> None:
    assert after(FIRST + BLOCK).read(bytearray(f"GET {target} HTTP/1.1".encode() + BLOCK)) is None


@pytest.mark.parametrize(
    "field",
    [
        *(b"Connection: close", b"Content-Length: 0", b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        *(b"Connection: upgrade\r\nUpgrade: websocket", b"a: " + b"b" * 3000),
    ],
)
def test_after_a_request_that_may_not_be_repeated_nothing_is_read(field: bytes) -> None:
    head = FIRST + b"\r\n" + field + BLOCK
    assert after(head).read(bytearray(head)) is None


def test_fields_that_differ_in_a_byte_or_are_incomplete_are_left_to_the_parser() -> None:
    for other in (BLOCK.replace(b"a\r", b"b\r"), BLOCK.replace(b"Host", b"host"), BLOCK[:-1], b"\r\n" + BLOCK):
        assert after(FIRST + BLOCK).read(bytearray(FIRST + other)) is None


def test_a_head_in_several_packets_is_not_repeated() -> None:
    heads, received = HeadReader(), bytearray()
    for part in (FIRST + b"\r\nConnection: close", BLOCK):
        received += part
        message = heads.read(received, ended=False)
    assert message is not None
    assert heads.last == b""

"""Skipping of bodies: where they end, and which are rejected."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from service.model.errors import BadRequest, ContentTooLarge, RequestError
from service.web.connections.framing import ChunkedBody, RequestBody, SizedBody
from service.web.connections.limits import MAX_BODY_BYTES, MAX_BODY_LINE_BYTES, MAX_BODY_PARTS

NEXT = b"GET / HTTP/1.1\r\n\r\n"
CHUNK = b"1\r\na\r\n"
END = b"0\r\n\r\n"


def longest(more: bytes = b"") -> bytes:
    """Return a line that is as long as all of a body may be, or longer."""
    return b"1;a=".ljust(MAX_BODY_LINE_BYTES - 2, b"b") + more + b"\r\n"


def rest_after(body: RequestBody, sent: bytes, step: int) -> bytes:
    """Send bytes in steps, and return those after the body."""
    received = bytearray()
    for start in range(0, len(sent), step):
        received += sent[start : start + step]
        if not body.ended:
            body.skip(received)
    return bytes(received)


@st.composite
def chunked(draw: Any) -> bytes:
    chunks = draw(st.lists(st.binary(min_size=1, max_size=40), max_size=MAX_BODY_PARTS // 2))
    extension = st.sampled_from([b"", b";a", b";a=b", b';a="b;\\"\r'.replace(b"\r", b"c") + b'"', b";a=b;c"])
    sizes = st.sampled_from([b"%x", b"%X", b"000%x"])
    body: bytes = b"".join(draw(sizes) % len(each) + draw(extension) + b"\r\n" + each + b"\r\n" for each in chunks)
    fields = st.sampled_from([b"x: y\r\n", b"x:\r\n", b"content: \xff\t1\r\n"])
    trailers = draw(st.lists(fields, max_size=MAX_BODY_PARTS // 2))
    last: bytes = b"0" + draw(extension) + b"\r\n"
    return body + last + b"".join(trailers) + b"\r\n"


@given(chunked(), st.integers(1, 50))
def test_a_chunked_body_ends_at_the_same_byte_however_it_is_split(sent: bytes, step: int) -> None:
    body = ChunkedBody()
    assert rest_after(body, sent + NEXT, step) == NEXT
    assert body.ended


@given(st.binary(max_size=100), st.integers(1, 50))
def test_a_sized_body_ends_at_the_same_byte_however_it_is_split(sent: bytes, step: int) -> None:
    body = SizedBody(len(sent))
    assert rest_after(body, sent + NEXT, step) == NEXT
    assert body.ended


@pytest.mark.parametrize(
    "sent",
    [
        *(b"\r\n", b"x\r\n", b" 1\r\n", b"1 \r\n", b"+1\r\n", b"-1\r\n", b"0x1\r\n", b"1_0\r\n", b"1.0\r\n", b"1;\r\n"),
        *(b"1\t\r\n", b"g\r\n", b"1,1\r\n", b"1\x00\r\n", b"\x001\r\n", b"1\x0b\r\n", b"#\r\n", b"1 1\r\n", b'"1"\r\n'),
        *(b"\xd9\xa1\r\n", b"-0\r\n", b"1g\r\n"),
        *(b"1;a=\r\n", b"1;a=b c\r\n", b'1;a="b\r\n', b"1;a\x01\r\n", b"1;a\nb\r\n", b"1\na\r\n"),
        *(b"1\ra\r\n", b"1 ;a\r\n"),
        *(b"1\r\nab\r\n", b"1\r\na0\r\n\r\n", b"1\r\na\n0\r\n\r\n", b"1\r\na\r0\r\n\r\n", b"2\r\na\r\n0\r\n\r\n"),
        *(b"0\r\nx\r\n", b"0\r\nx : y\r\n", b"0\r\n: y\r\n", b"0\r\nx: \x00\r\n"),
        *(b"0\r\n x: y\r\n", b"0\r\nx: y\nz: a\r\n"),
        *(b"0\r\nContent-Length: 1\r\n", b"0\r\ntransfer-encoding: chunked\r\n", b"0\n\r\n"),
    ],
)
@pytest.mark.parametrize("step", [1, 1 << 20])
def test_a_malformed_chunked_body_is_rejected(sent: bytes, step: int) -> None:
    with pytest.raises(BadRequest):
        rest_after(ChunkedBody(), sent, step)


@pytest.mark.parametrize(
    "sent",
    [
        b"%x\r\n" % MAX_BODY_BYTES,
        b"f" * 17 + b"\r\n",
        CHUNK * (MAX_BODY_PARTS + 1),
        CHUNK + b"0\r\n" + b"a:\r\n" * MAX_BODY_PARTS,
        (b"10000\r\n" + bytes(1 << 16) + b"\r\n") * 16,
        b"1" * (MAX_BODY_LINE_BYTES + 1),
        longest(b"a"),
        longest() + b"a\r\n1",
        b"0\r\n" + b"a:" + b"b" * (MAX_BODY_LINE_BYTES // 2) + b"\r\na:" + b"b" * (MAX_BODY_LINE_BYTES // 2),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("step", [1, 100, 1 << 20])
def test_a_chunked_body_over_a_limit_is_rejected(sent: bytes, step: int) -> None:
    with pytest.raises(ContentTooLarge):
        rest_after(ChunkedBody(), sent, max(step, len(sent) >> 13))


@pytest.mark.parametrize(
    "sent",
    [
        CHUNK * MAX_BODY_PARTS + END,
        CHUNK + b"0\r\n" + b"a:\r\n" * (MAX_BODY_PARTS - 1) + b"\r\n",
        longest()[: -len(END) - 2] + b"\r\na\r\n" + END,
    ],
    ids=["chunks", "chunks and trailers", "lines together"],
)
@pytest.mark.parametrize("step", [1, 100, 1 << 20])
def test_a_chunked_body_at_its_limits_is_skipped(sent: bytes, step: int) -> None:
    assert rest_after(ChunkedBody(), sent + NEXT, step) == NEXT


def test_a_body_over_a_limit_is_a_413_even_if_it_is_malformed_after_it() -> None:
    for malformed, step in product((b"x\r\n", b"1;\r\n"), (1, 100, 1 << 20)):
        with pytest.raises(ContentTooLarge):
            rest_after(ChunkedBody(), CHUNK * (MAX_BODY_PARTS + 1) + malformed, step)


@given(st.binary(max_size=60), st.integers(1, 10))
def test_the_outcome_for_any_bytes_does_not_depend_on_how_they_are_split(sent: bytes, step: int) -> None:
    def outcome(step: int) -> Any:
        try:
            body = ChunkedBody()
            return rest_after(body, sent, step) if body.ended else body.ended
        except RequestError as error:
            return type(error)

    assert outcome(step) == outcome(1 << 20)

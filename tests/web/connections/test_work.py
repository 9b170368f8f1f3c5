"""What a client sends costs work in proportion to its length, however it is made."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from service.web.connections.heads import HeadReader
from service.web.connections.limits import MAX_BODY_BYTES, MAX_LINE_END_BYTES, RECEIVE_BYTES
from service.web.connections.turns import Turns
from tests.web.connections.harness import GET, Wire, settle

POST = b"POST /health HTTP/1.1\r\nHost: t\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Received(bytearray):
    """What a connection has received and not used yet; counts the bytes that are scanned and copied."""

    touched = 0

    def __getitem__(self, where: Any) -> Any:
        taken = super().__getitem__(where)
        self.touched += len(taken)
        return taken

    def find(self, sought: Any, start: Any = 0, end: Any = None, /) -> int:
        found = super().find(sought, start, end)
        self.touched += (len(self) if found < 0 else found) - start
        return found

    def lstrip(self, ends: Any = None, /) -> bytearray:
        self.touched += len(self)
        return super().lstrip(ends)


class Work:
    """Calls in Python and C, and what the parser is given."""

    def __init__(self) -> None:
        self.calls = self.parses = self.parsed = self.touched = 0

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call, as `sys.setprofile` tells of it."""
        self.calls += event in ("call", "c_call")
        if event == "call" and frame.f_code is HeadReader._parse.__code__:  # noqa: SLF001 - where the parser is called
            self.parses += 1
            self.parsed += len(frame.f_locals["new"])


async def work_of(sent: bytes, packet: int) -> Work:
    """Return the work of a connection that gets some bytes in packets; the client reads what comes."""
    wire, work = Wire(), Work()
    wire.turns = Turns(lambda turn: turn())  # each packet is used before the next one comes
    received = wire.connection._received = Received()  # noqa: SLF001 - all that it does to bytes it does there
    sys.setprofile(work.profile)
    try:
        for start in range(0, len(sent), packet):
            wire.unread += sent[start : start + packet]
            wire.deliver()
        await settle()
    finally:
        sys.setprofile(None)
    work.touched = received.touched
    return work


def body_of_line_ends(size: int) -> bytes:
    return POST + b"Content-Length: %d\r\n\r\n" % (4 * size) + b"\r\n\r\n" * size


def chunk_of_line_ends(size: int) -> bytes:
    return CHUNKED + b"%x\r\n" % (4 * size) + b"\r\n\r\n" * size + b"\r\n0\r\n\r\n"


def small_chunks(size: int) -> bytes:
    return CHUNKED + b"1\r\na\r\n" * size + b"0\r\n\r\n"


def trailers(size: int) -> bytes:
    return CHUNKED + b"0\r\n" + b"a:\r\n" * size + b"\r\n"


def fields(size: int) -> bytes:
    return GET[:-2] + (b"a: " + b"b" * 2 * size + b"\r\n") * 4 + b"\r\n"


def unknown_method(size: int) -> bytes:
    return b"BREW /" + b"a" * size + b" HTTP/1.1\r\n" + (b"a: " + b"b" * 2 * size + b"\r\n") * 3 + b"\r\n"


@pytest.mark.parametrize("packet", [1, RECEIVE_BYTES], ids=["byte by byte", "at once"])
@pytest.mark.parametrize(
    "sent", [body_of_line_ends, chunk_of_line_ends, small_chunks, trailers, fields, unknown_method]
)
async def test_twice_as_much_is_no_more_than_twice_the_work(sent: Callable[[int], bytes], packet: int) -> None:
    once, twice, four = [await work_of(sent(size), packet) for size in (500, 1000, 2000)]
    assert twice.calls <= 2.1 * once.calls
    assert four.calls <= 2.1 * twice.calls
    assert four.touched <= 8 * len(sent(2000))  # four for an end that may lie across packets


@pytest.mark.parametrize("sent", [body_of_line_ends(200_000), chunk_of_line_ends(200_000)], ids=["sized", "chunked"])
async def test_the_parser_gets_each_byte_of_a_head_once_and_none_of_a_body(sent: bytes) -> None:
    assert len(sent) < MAX_BODY_BYTES
    head = sent.index(b"\r\n\r\n") + 4
    for packet in (7, RECEIVE_BYTES):
        work = await work_of(sent + GET, packet)
        assert work.parsed == head + len(GET)
        assert work.parses <= 4 + work.parsed // packet


async def test_a_body_of_line_ends_is_as_much_work_as_any_other() -> None:
    other = body_of_line_ends(200_000)[: -4 * 200_000] + b"a" * 4 * 200_000
    ends, others = await work_of(body_of_line_ends(200_000), 1 << 16), await work_of(other, 1 << 16)
    assert (ends.parsed, ends.touched) == (others.parsed, others.touched)
    assert ends.calls < 2_000


@pytest.mark.parametrize("packet", [1, 2, 65_536])
async def test_line_ends_before_a_request_line_are_borne_up_to_a_few_and_cost_nothing(packet: int) -> None:
    wire = Wire()
    await wire.send(b"\r\n" * (MAX_LINE_END_BYTES // 2), GET)
    assert wire.statuses == [200]
    work = await work_of(b"\r\n" * 32_768, packet)
    assert (work.parsed, work.touched <= 2 * MAX_LINE_END_BYTES**2 + packet) == (0, True)
    flooded = Wire()
    await flooded.send(b"\r\n" * 32_768, GET)
    assert flooded.statuses == [400]
    assert flooded.ended


async def test_many_small_chunks_end_the_connection_before_they_cost_much() -> None:
    work = await work_of(small_chunks(1_000_000), RECEIVE_BYTES)
    assert work.calls < 300_000

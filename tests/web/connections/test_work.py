"""The work for a client's bytes grows linearly with their number."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import msgspec
import pytest

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.heads import HeadReader
from service.web.connections.limits import MAX_BODY_BYTES, MAX_BODY_PARTS, RECEIVE_BYTES, Turns
from service.web.pipeline.access_log import AccessLogEntry, encode_lines
from service.web.pipeline.app import App
from service.web.site import make_site
from tests.web.connections.harness import GET, Wire
from tests.web.live import DEFAULTS, KEY, authentication

pytestmark = pytest.mark.slow

POST = b"POST /health HTTP/1.1\r\nHost: t\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


TRACING = (b"Forwarded", b"X-Forwarded-For", b"X-Request-Id", b"traceparent", b"Origin")


def ask(target: bytes, *fields: bytes, method: bytes = b"GET") -> bytes:
    return b"\r\n".join((method + b" " + target + b" HTTP/1.1", b"Host: t", *fields, b"", b""))


def site() -> App:
    """Return an application that needs a key and reads as much of a request as it ever does."""
    settings = msgspec.structs.replace(
        DEFAULTS, trusted_proxy=("192.0.2.1", "127.0.0.0/8"), cors_origin=("https://shop.example",)
    )
    return make_site(SnapshotHolder(), authentication([KEY]), settings, log=Dropped().write).public


class Dropped:
    """An access log that nobody reads."""

    def write(self, entry: AccessLogEntry) -> bool:
        return bool(encode_lines([entry]))


class Received(bytearray):
    """The received bytes of a connection; counts those that are scanned and copied."""

    touched = 0

    def __getitem__(self, where: Any) -> Any:
        part = super().__getitem__(where)
        self.touched += len(part)
        return part

    def find(self, sought: Any, start: Any = 0, end: Any = None, /) -> int:
        found = super().find(sought, start, end)
        self.touched += (len(self) if found < 0 else found) - start
        return found

    def lstrip(self, ends: Any = None, /) -> bytearray:
        self.touched += len(self)
        return super().lstrip(ends)


class Work:
    """The number of calls in Python and C, and the bytes parsed."""

    def __init__(self) -> None:
        self.calls = self.parses = self.parsed = self.touched = 0

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call; for `sys.setprofile`."""
        self.calls += event in ("call", "c_call")
        if event == "call" and frame.f_code is HeadReader._parse.__code__:  # noqa: SLF001 - where the parser is called
            self.parses += 1
            self.parsed += len(frame.f_locals["new"])


async def work_of(sent: bytes, packet: int, app: App | None = None) -> Work:
    """Return the work of a connection that receives bytes in packets; its client reads the responses."""
    wire, work = Wire(app), Work()
    wire.turns = Turns(lambda turn: turn())  # each packet is processed before the next one is received
    received = wire.connection._received = Received()  # noqa: SLF001 - its only buffer
    sys.setprofile(work.profile)
    try:
        for start in range(0, len(sent), packet):
            wire.put(sent[start : start + packet])
        await wire.finish()
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


def requests_behind_line_ends(size: int) -> bytes:
    return (b"\r\n" + GET) * (size // 2)


def unknown_method(size: int) -> bytes:
    return b"BREW /" + b"a" * size + b" HTTP/1.1\r\n" + (b"a: " + b"b" * 2 * size + b"\r\n") * 3 + b"\r\n"


@pytest.mark.parametrize("packet", [1, RECEIVE_BYTES], ids=["byte by byte", "at once"])
@pytest.mark.parametrize(
    "sent",
    [body_of_line_ends, chunk_of_line_ends, small_chunks, trailers, fields, requests_behind_line_ends, unknown_method],
)
async def test_work_grows_linearly_with_the_input(sent: Callable[[int], bytes], packet: int) -> None:
    once, twice, four = [await work_of(sent(size), packet) for size in (50, 100, 200)]
    assert twice.calls <= 2.1 * once.calls
    assert four.calls <= 2.1 * twice.calls
    assert four.touched <= 8 * len(sent(200))  # 4 for the end of a head, which may be split between packets


@pytest.mark.parametrize("sent", [body_of_line_ends(10_000), chunk_of_line_ends(10_000)], ids=["sized", "chunked"])
async def test_the_parser_gets_each_byte_of_a_head_once_and_none_of_a_body(sent: bytes) -> None:
    assert len(sent) < MAX_BODY_BYTES
    head = sent.index(b"\r\n\r\n") + 4
    for packet in (7, RECEIVE_BYTES):
        work = await work_of(sent + GET, packet)
        assert work.parsed == head + len(GET)
        assert work.parses <= 4 + work.parsed // packet


@pytest.fixture(scope="module")
def costs() -> dict[bytes, int]:
    """Return the calls of no request and of one without a key, once they are known."""
    return {}


def long(start: bytes, unit: bytes, size: int) -> bytes:
    return start + unit * ((size - len(start)) // len(unit))


@pytest.mark.parametrize(
    "sent",
    [
        *(ask(long(b"/", unit, 8000)) for unit in (b"a", b"/", b"%41", b"/%41", b"%2541", b"sd_")),
        *(ask(long(b"/companies/", unit, 8000)) for unit in (b"%41", b"%2541", b"%252525252541", b"%73%64%5f")),
        ask(long(b"/", b"/%41", 8000), method=b"BREW"),
        *(ask(long(b"/stores?", unit, 8000)) for unit in (b"a=1&", b"%61=%62&", b"&", b"city=a&")),
        ask(long(b"/stores/?", b"%ff", 8000)),
        ask(long(b"http://xn--", b"a", 8000) + b"/"),
        *(
            ask(b"/stores", long(b"Accept: #", unit, 1000))
            for unit in (b"a,", b"a;q=1,", b"a;b,", b";", b'"",', b'\\"')
        ),
        ask(b"/stores", *[b"Accept: #"] * 95),
        ask(b"/stores", b"Prefer: handling=" + b" " * 1000 + b"x y"),
        ask(b"/openapi.json", *[long(b"If-None-Match: ", b'"a",', 8000)] * 4),
        ask(b"/stores", *[b"x-api-key: a"] * 95),
        ask(b"/stores", *(b"a%d: b" % number for number in range(95))),
        *(ask(b"/stores", long(name + b": ", unit, 8000)) for name in TRACING for unit in (b"a", b"a=b,", b"1.1.1.1,")),
        long(b"", b"\r\n", 65_536),
        POST + b"Content-Length: 30000\r\n\r\n" + b"\r\n" * 15_000,
        CHUNKED + b"1\r\na\r\n" * MAX_BODY_PARTS + b"0\r\n\r\n",
        CHUNKED + b"1\r\na\r\n" * 5_000,
        CHUNKED + b"0\r\n" + b"a:\r\n" * 5_000,
    ],
)
async def test_a_request_without_a_key_costs_at_most_a_few_401s(sent: bytes, costs: dict[bytes, int]) -> None:
    await work_of(sent, RECEIVE_BYTES, site())  # warm up caches
    for each in (b"", ask(b"/stores")):
        if each not in costs:
            costs[each] = (await work_of(each, RECEIVE_BYTES, site())).calls
    nothing, refused = costs.values()
    work = await work_of(sent.replace(b"#", b"1"), RECEIVE_BYTES, site())
    assert work.calls - nothing <= 8 * (refused - nothing)

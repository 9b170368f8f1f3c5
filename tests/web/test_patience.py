"""How long a client is waited for, and for how many."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import msgspec
import pytest
from aiohttp.web import UnixSite

from service.replica.replica import Replica
from service.web.auth import anybody
from service.web.connection import Connection
from service.web.event import Event
from service.web.connections.limits import MAX_BODY_BYTES, Limits
from service.web.connections.server import Server, give_up, runner
from service.web.site import make_site, open_site
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.live import POLICY

LIMITS = Limits(
    head_seconds=0.4, idle_seconds=0.8, write_seconds=0.4, discard_seconds=0.4, look_seconds=0.05, connections=8
)
# What a loaded machine may add.
SLACK = 2.0
GET = b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n"
# 1,000 stores of 1,000 characters: more than the system takes in at once.
PAGE = b"GET /stores HTTP/1.1\r\nHost: t\r\n\r\n"

Address = Path | int
Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[], Awaitable[Wire]]


@pytest.fixture
async def replica(tmp_path: Path) -> Replica:
    replica = Replica()
    stores = [store(f"s{number}", name="x" * 3000) for number in range(1000)]
    await serve(replica, write_directory(tmp_path / "data", stores, [company("acme")]))
    return replica


@pytest.fixture(params=["tcp", "unix"])
async def dial(request: pytest.FixtureRequest, replica: Replica, tmp_path: Path) -> AsyncIterator[Dial]:
    """Connect to a service that is not patient, by TCP and by a Unix socket; the client reads little by itself."""
    policy = POLICY
    site = make_site(replica, anybody, policy)
    wires: list[Wire] = []
    if request.param == "unix":
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(tmp_path / "socket"))
    else:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    close = await open_site(site, LIMITS, public=[listening], admin=[])

    async def connect() -> Wire:
        if request.param == "unix":
            wires.append(await asyncio.open_unix_connection(tmp_path / "socket", limit=1024))
        else:
            wires.append(await asyncio.open_connection("127.0.0.1", port, limit=1024))
        return wires[-1]

    yield connect
    for _, writer in wires:
        writer.close()
    await close()


def counted(replica: Replica, event: Event) -> int:
    """Return how often something happened."""
    site = make_site(Replica(replica.seat), anybody, POLICY)
    (family,) = [each for each in site.public.traffic.collect() if each.name == f"store_directory_{event.counter}"]
    return next(int(each.value) for each in family.samples if each.labels.get("result", "") == event.result)


async def closed_after(reader: asyncio.StreamReader) -> float:
    """Return after how many seconds a connection is closed from the other side."""
    begun = monotonic()
    async with asyncio.timeout(10):
        with suppress(ConnectionError):
            while await reader.read(1 << 20):
                pass
    return monotonic() - begun


async def trickle(writer: asyncio.StreamWriter, pieces: list[bytes], *, every: float) -> None:
    """Send pieces, one after the other, as long as there is somebody to send to."""
    with suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every)


@pytest.mark.parametrize(
    "pieces",
    [[], [b"GET"], [b"GET /health HTTP/1.1\r\n", *[b"a: b\r\n"] * 100], [b"\r\n"] * 100, [b"\r\n\r\n", b"\r\n"] * 50],
    ids=["nothing", "a part", "a header now and then", "a line end now and then", "pairs of line ends"],
)
async def test_a_first_head_must_come_in_time_however_it_comes(
    dial: Dial, replica: Replica, pieces: list[bytes]
) -> None:
    reader, writer = await dial()
    trickling = asyncio.create_task(trickle(writer, pieces, every=0.05))
    assert LIMITS.head_seconds * 0.8 < await closed_after(reader) < LIMITS.head_seconds + SLACK
    await trickling
    assert counted(replica, Event.HEAD_TIMEOUT) == 1


@pytest.mark.parametrize(
    "pieces",
    [[b"GET"], [b"G", *[b"\r\n"] * 100], [b"GET /health HTTP/1.1\r\n", *[b"a: b\r\n"] * 100]],
    ids=["a part", "a broken line", "a header now and then"],
)
async def test_so_must_any_other_head(dial: Dial, replica: Replica, pieces: list[bytes]) -> None:
    reader, writer = await dial()
    writer.write(GET + pieces[0])
    trickling = asyncio.create_task(trickle(writer, pieces[1:], every=0.05))
    assert await closed_after(reader) < LIMITS.head_seconds + SLACK
    await trickling
    malformed = pieces[0] == b"G"
    assert counted(replica, Event.HEAD_TIMEOUT) == (0 if malformed else 1)


@pytest.mark.parametrize(
    "pieces", [[], [b"\r\n"] * 100, [b"\r\n\r\n"] * 100], ids=["nothing", "line ends", "pairs of line ends"]
)
async def test_an_idle_connection_is_closed_in_time(dial: Dial, replica: Replica, pieces: list[bytes]) -> None:
    reader, writer = await dial()
    writer.write(GET)
    trickling = asyncio.create_task(trickle(writer, pieces, every=0.05))
    assert LIMITS.head_seconds * 0.8 < await closed_after(reader) < LIMITS.idle_seconds + SLACK
    await trickling
    assert counted(replica, Event.IDLE_TIMEOUT) + counted(replica, Event.HEAD_TIMEOUT) == 1


async def test_so_are_many_that_are_looked_at_by_and_by(replica: Replica, tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, connections=100)
    server = runner(make_site(replica, anybody, POLICY).public, limits)
    await server.setup()
    await UnixSite(server, tmp_path / "many").start()
    wires = [await asyncio.open_unix_connection(tmp_path / "many") for _ in range(45)]
    assert [await reader.read() for reader, _ in wires] == [b""] * 45
    assert counted(replica, Event.HEAD_TIMEOUT) == 45
    for _, writer in wires:
        writer.close()
    await server.cleanup()


async def test_a_connection_that_ended_meanwhile_is_not_looked_at(replica: Replica) -> None:
    site = make_site(replica, anybody, POLICY)
    server = Server(site.public, LIMITS)
    ended = server()
    assert isinstance(ended, Connection)
    server._look_at(ended, monotonic())  # noqa: SLF001 - it ends between two looks by chance alone
    assert counted(replica, Event.HEAD_TIMEOUT) == 0


async def test_a_connection_is_idle_after_a_body(dial: Dial, replica: Replica) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Content-Length: 3\r\n\r\nabc")
    assert LIMITS.idle_seconds * 0.8 < await closed_after(reader) < LIMITS.idle_seconds + SLACK
    assert counted(replica, Event.IDLE_TIMEOUT) == 1


async def test_whoever_asks_on_is_let_go_on(dial: Dial) -> None:
    reader, writer = await dial()
    end = monotonic() + 2 * LIMITS.idle_seconds
    while monotonic() < end:
        writer.write(GET)
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200 ")
        await asyncio.sleep(0.05)


async def test_an_answer_that_nobody_reads_is_given_up(dial: Dial, replica: Replica) -> None:
    _, writer = await dial()
    writer.write(PAGE * 8)
    begun = monotonic()
    while not counted(replica, Event.WRITE_TIMEOUT):
        assert monotonic() < begun + LIMITS.write_seconds + SLACK + 2
        await asyncio.sleep(0.05)


async def test_whoever_reads_nothing_is_not_read_on(dial: Dial) -> None:
    _, writer = await dial()
    head = b"GET /nope HTTP/1.1\r\nHost: t\r\n" + (b"a: " + b"b" * 8000 + b"\r\n") * 3 + b"\r\n"
    flood = PAGE * 2 + head * 2500
    writer.write(flood)
    await asyncio.sleep(LIMITS.write_seconds / 2)
    assert writer.transport.get_write_buffer_size() > len(flood) // 2


async def test_an_answer_that_is_read_slowly_is_not(dial: Dial, replica: Replica) -> None:
    reader, writer = await dial()
    writer.write(PAGE[:-2] + b"Connection: close\r\n\r\n")
    length = 0
    while part := await reader.read(100_000):
        length += len(part)
        await asyncio.sleep(0.02)
    assert length > 3_000_000
    assert counted(replica, Event.WRITE_TIMEOUT) == 0


@pytest.mark.parametrize("size", [MAX_BODY_BYTES // 2, MAX_BODY_BYTES * 64], ids=["small", "large"])
async def test_a_body_in_chunks_is_read_past_within_the_bound(dial: Dial, size: int) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk, sent, answer = b"10000\r\n" + bytes(1 << 16) + b"\r\n", 0, b""
    with suppress(ConnectionError):
        while sent < size:
            writer.write(chunk)
            await writer.drain()
            sent += len(chunk)
        writer.write(b"0\r\n\r\n" + GET[:-2] + b"Connection: close\r\n\r\n")
        answer = await reader.read()
    assert (answer.count(b"HTTP/1.1 200 ") == 2) == (size < MAX_BODY_BYTES)
    assert size < MAX_BODY_BYTES or sent < size


async def test_a_body_that_does_not_come_is_not_waited_for_long(dial: Dial) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Content-Length: 1000\r\n\r\n")
    trickling = asyncio.create_task(trickle(writer, [b"x"] * 100, every=0.05))
    assert await closed_after(reader) < LIMITS.discard_seconds + SLACK
    await trickling


async def test_whoever_asks_whether_to_send_a_body_is_told_to_send_none(dial: Dial) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    async with asyncio.timeout(10):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nConnection: close\r\n" in answer


async def test_more_connections_than_the_limit_are_answered_503_until_there_is_room(
    dial: Dial, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    inside = [await dial() for _ in range(LIMITS.connections)]
    inside[0][1].write(GET)
    assert (await inside[0][0].readuntil(b"}")).startswith(b"HTTP/1.1 200 ")
    for _ in range(20):
        reader, _ = await dial()
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 1\r\n" in answer
        assert answer.endswith(b'{"detail":"Service Unavailable"}')
    assert counted(replica, Event.REFUSED) == 20
    assert len(caplog.records) == 1
    for _, writer in inside:
        writer.close()
    begun = monotonic()
    while not answer.startswith(b"HTTP/1.1 200 "):
        assert monotonic() < begun + SLACK
        reader, writer = await dial()
        writer.write(GET[:-2] + b"Connection: close\r\n\r\n")
        with suppress(ConnectionError):
            answer = await reader.read()


async def test_the_admin_is_let_in_when_the_public_is_full(replica: Replica) -> None:
    site = make_site(replica, anybody, msgspec.structs.replace(POLICY, rates=False), apart=True)
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in sockets]
    close = await open_site(site, LIMITS, public=sockets[:1], admin=sockets[1:])
    inside = [await asyncio.open_connection("127.0.0.1", ports[0]) for _ in range(LIMITS.connections + 1)]
    assert (await inside[-1][0].read()).startswith(b"HTTP/1.1 503 ")
    reader, writer = await asyncio.open_connection("127.0.0.1", ports[1])
    writer.write(GET[:-2] + b"Connection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    for _, each in (*inside, (reader, writer)):
        each.close()
    await close()


def test_the_system_gives_up_what_a_client_does_not_take_after_the_connection_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        give_up(listening, 1.5)
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500

"""Timeouts: of heads, idle connections, unread responses and bodies."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path

import msgspec
import pytest

from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import MAX_BODY_BYTES, Limits, State, TimeoutSweep, unsent_bytes
from service.web.pipeline.counters import Event
from tests.directory import store, write_directory
from tests.loaded import accepted, serve
from tests.program import SECONDS
from tests.web.connections import harness
from tests.web.connections.listening import (
    CLOSE,
    GET,
    LIMITS,
    SHORT,
    Dial,
    counted,
    listening,
    short,
    trickle,
    until_closed,
)

# 1,000 stores of 3,000 characters: more than the system buffers for a client that does not read.
Listen = Callable[[Limits], AbstractAsyncContextManager[Dial]]
PAGE = b"GET /stores HTTP/1.1\r\nHost: t\r\n\r\n"
HEAD, IDLE, WRITE, BODY = (getattr(Limits(), f"{each}_seconds") for each in ("head", "idle", "write", "discard"))


async def is_closed_after(wire: harness.Wire, seconds: float) -> bool:
    """Return whether a connection closes after exactly this time."""
    await wire.wait(seconds - 0.01)
    before = wire.lost
    await wire.wait(0.01)
    return wire.lost and not before


@pytest.mark.parametrize("piece", [b"", b"\r", b"\r\n", b"\r\n\r\n"])
async def test_line_ends_do_not_extend_the_idle_timeout(piece: bytes) -> None:
    wire = harness.Wire()
    await wire.send(GET)
    for _ in range(10):
        await wire.send(piece)
        await wire.wait(1)
    assert wire.connection.state is State.IDLE
    assert await is_closed_after(wire, IDLE - 10)
    assert wire.counted(Event.IDLE_TIMEOUT) == 1


async def test_each_byte_that_the_client_reads_restarts_the_write_timeout() -> None:
    wire = harness.Wire(room=10)
    await wire.send(GET)
    await wire.wait(0)
    for _ in range(10):
        await wire.wait(WRITE - 1)
        await wire.take(1)
        await wire.wait(0)
    assert (wire.connection.state, wire.lost) == (State.WRITING, False)
    assert await is_closed_after(wire, WRITE)
    assert wire.counted(Event.WRITE_TIMEOUT) == 1


async def test_a_client_that_the_system_drops_because_it_acknowledges_nothing_has_timed_out() -> None:
    wire = harness.Wire(room=10)
    await wire.send(GET)
    wire.drop(TimeoutError())
    await harness.settle()
    assert (wire.lost, wire.counted(Event.WRITE_TIMEOUT)) == (True, 1)


async def test_a_closed_connection_does_not_time_out() -> None:
    wire = harness.Wire()
    wire.abort()
    wire.connection.check_timeout(wire.clock + 3600)
    assert wire.counted(Event.HEAD_TIMEOUT) == 0


class Checked:
    """A connection that records when it is checked."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def check_timeout(self, now: float) -> None:
        self.times.append(now)


async def test_a_sweep_checks_each_connection_once_in_batches() -> None:
    connections = [Checked() for _ in range(45)]
    among = set(connections)
    sweep = TimeoutSweep(among, 0.05)
    sweep.start()
    sweep.start()
    while not all(len(each.times) == 2 for each in connections):
        assert max(len(each.times) for each in connections) - min(len(each.times) for each in connections) <= 1
        await asyncio.sleep(0.001)
    assert len({each.times[0] for each in connections}) == 3
    among.clear()
    await asyncio.sleep(0.1)
    counts = [len(each.times) for each in connections]
    await asyncio.sleep(0.1)
    assert [len(each.times) for each in connections] == counts


# With real sockets: the same in short, and the part of the system.


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    stores = [store(f"s{number}", name="x" * 3000) for number in range(1000)]
    return accepted(write_directory(tmp_path_factory.mktemp("data"), stores))


@pytest.fixture
async def snapshots(data: Dataset) -> SnapshotHolder:
    await serve(snapshots := SnapshotHolder(), data)
    return snapshots


@pytest.fixture(params=["tcp", "unix"])
def listen(request: pytest.FixtureRequest, snapshots: SnapshotHolder, tmp_path: Path) -> Listen:
    return partial(listening, snapshots, tmp_path / "socket" if request.param == "unix" else None)


@pytest.fixture
async def dial(listen: Listen) -> AsyncIterator[Dial]:
    async with listen(LIMITS) as dial:
        yield dial


@pytest.mark.process
@pytest.mark.parametrize(
    ("pieces", "limit", "event"),
    [
        ([], "head", Event.HEAD_TIMEOUT),
        ([b"GET /health HTTP/1.1\r\n", *[b"a: b\r\n"] * 100], "head", Event.HEAD_TIMEOUT),
        ([GET + GET[:-2], *[b"a: b\r\n"] * 100], "head", Event.HEAD_TIMEOUT),
        ([GET], "idle", Event.IDLE_TIMEOUT),
        ([GET[:-2] + b"Content-Length: 3\r\n\r\nabc"], "idle", Event.IDLE_TIMEOUT),
        ([GET[:-2] + b"Content-Length: 1000\r\n\r\n", *[b"x"] * 100], "discard", None),
    ],
    ids=["nothing", "a slow head", "another slow head", "idle", "idle after a body", "a slow body"],
)
async def test_a_client_that_exceeds_a_timeout_is_disconnected(
    listen: Listen, snapshots: SnapshotHolder, pieces: list[bytes], limit: str, event: Event | None
) -> None:
    async with listen(short(limit)) as dial:
        reader, writer = await dial()
        trickling = asyncio.create_task(trickle(writer, pieces))
        answers = await until_closed(reader)
        await trickling
    assert answers.count(b"HTTP/1.1 200 ") == (GET[:-2] in b"".join(pieces))
    events = (Event.HEAD_TIMEOUT, Event.IDLE_TIMEOUT, Event.WRITE_TIMEOUT)
    assert [each for each in events if counted(snapshots, each)] == ([event] if event else [])


async def is_dropped(snapshots: SnapshotHolder, dial: Dial) -> list[Event]:
    """Return the events counted until a client that reads nothing is disconnected."""
    _, writer = await dial()
    writer.write(PAGE * 64)  # more than the system's buffers take
    async with asyncio.timeout(SECONDS):
        while not counted(snapshots, Event.ACCEPTED) or snapshots.slot.open_connections():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)
    events = (Event.HEAD_TIMEOUT, Event.IDLE_TIMEOUT, Event.WRITE_TIMEOUT, Event.MEMORY_LIMIT)
    return [each for each in events for _ in range(counted(snapshots, each))]


@pytest.mark.process
@pytest.mark.uvloop
async def test_a_response_that_the_client_does_not_read_is_aborted(listen: Listen, snapshots: SnapshotHolder) -> None:
    async with listen(short("write")) as dial:
        assert await is_dropped(snapshots, dial) == [Event.WRITE_TIMEOUT]


@pytest.mark.process
@pytest.mark.uvloop
@pytest.mark.skipif(sys.platform != "linux", reason="TCP_USER_TIMEOUT")
async def test_a_client_that_the_system_drops_before_its_timeout_is_checked_has_timed_out(
    snapshots: SnapshotHolder,
) -> None:
    async with listening(snapshots, limits=msgspec.structs.replace(short("write"), check_seconds=SECONDS)) as dial:
        assert await is_dropped(snapshots, dial) == [Event.WRITE_TIMEOUT]


@pytest.mark.process
@pytest.mark.uvloop
async def test_requests_of_a_client_that_reads_nothing_are_not_read(listen: Listen) -> None:
    head = b"GET /nope HTTP/1.1\r\nHost: t\r\n" + (b"a: " + b"b" * 8000 + b"\r\n") * 3 + b"\r\n"
    flood = PAGE * 2 + head * 2500
    unsent = len(flood)
    async with listen(short("write")) as dial:
        _, writer = await dial()
        writer.write(flood)
        while not writer.transport.is_closing():  # until the write timeout
            unsent = writer.transport.get_write_buffer_size()
            await asyncio.sleep(SHORT / 40)
    assert unsent > len(flood) // 2


@pytest.mark.process
async def test_a_slowly_read_response_arrives_complete(dial: Dial, snapshots: SnapshotHolder) -> None:
    reader, writer = await dial()
    writer.write(PAGE[:-2] + b"Connection: close\r\n\r\n")
    length = 0
    while part := await reader.read(100_000):
        length += len(part)
        await asyncio.sleep(0.02)
    assert length > 3_000_000
    assert counted(snapshots, Event.WRITE_TIMEOUT) == 0


@pytest.mark.process
@pytest.mark.parametrize("size", [MAX_BODY_BYTES // 2, MAX_BODY_BYTES * 64], ids=["small", "large"])
async def test_a_chunked_body_is_skipped_up_to_the_limit(dial: Dial, size: int) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk, sent, answer = b"10000\r\n" + bytes(1 << 16) + b"\r\n", 0, b""
    with suppress(ConnectionError):
        while sent < size:
            writer.write(chunk)
            await writer.drain()
            sent += len(chunk)
        writer.write(b"0\r\n\r\n" + CLOSE)
        answer = await reader.read()
    assert (answer.count(b"HTTP/1.1 200 ") == 2) == (size < MAX_BODY_BYTES)
    assert size < MAX_BODY_BYTES or sent < size


@pytest.mark.process
async def test_a_request_with_expect_is_answered_without_its_body_and_the_connection_closed(dial: Dial) -> None:
    reader, writer = await dial()
    writer.write(GET[:-2] + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    answer = await until_closed(reader)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.process
async def test_bytes_in_the_send_queue_of_the_system_count_as_unsent() -> None:
    made: asyncio.Queue[asyncio.Transport] = asyncio.Queue()

    class Server(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            made.put_nowait(transport)

    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1)
    transport = await made.get()
    transport.write(bytes(20_000_000))
    before = unsent_bytes(transport)
    assert before > transport.get_write_buffer_size() > 0
    await reader.readexactly(10_000_000)
    assert 0 < unsent_bytes(transport) < before
    writer.close()
    transport.abort()
    await asyncio.sleep(0)
    assert unsent_bytes(transport) == 0
    server.close()

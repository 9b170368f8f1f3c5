"""Timeouts: of heads, idle connections, unread responses and bodies."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import Limits, State, TimeoutSweep, unsent_bytes
from service.web.pipeline.counters import Event
from tests.directory import store, write_directory
from tests.loaded import accepted, serve
from tests.program import SECONDS
from tests.web.connections import harness
from tests.web.connections.listening import GET, SHORT, counted, listening, short

IDLE, WRITE = Limits().idle_seconds, Limits().write_seconds


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
    """Return a page of 3 MB: more than the system buffers for a client that does not read."""
    stores = [store(f"s{number}", name="x" * 3000) for number in range(1000)]
    return accepted(write_directory(tmp_path_factory.mktemp("data"), stores))


@pytest.mark.process
@pytest.mark.uvloop
@pytest.mark.parametrize(("kind", "check_seconds"), [("tcp", 0.05), ("unix", 0.05), ("tcp", SECONDS)])
async def test_a_client_that_reads_nothing_is_dropped_by_us_or_by_the_system_and_its_requests_are_not_read(
    snapshots: SnapshotHolder, data: Dataset, tmp_path: Path, kind: str, check_seconds: float
) -> None:
    """The system drops it by TCP_USER_TIMEOUT, before its timeout is checked."""
    await serve(snapshots, data)
    head = GET[:-2] + (b"a: " + b"b" * 8000 + b"\r\n") * 3 + b"\r\n"
    flood = b"GET /stores HTTP/1.1\r\nHost: t\r\n\r\n" * 64 + head * 500
    limits = msgspec.structs.replace(short("write"), check_seconds=check_seconds)
    async with listening(snapshots, tmp_path / "socket" if kind == "unix" else None, limits) as dial:
        _, writer = await dial()
        writer.write(flood)
        unsent = len(flood)
        async with asyncio.timeout(SECONDS):
            while not counted(snapshots, Event.ACCEPTED) or snapshots.slot.open_connections():
                unsent = writer.transport.get_write_buffer_size() or unsent
                await asyncio.sleep(SHORT / 40)
        writer.transport.abort()
    assert unsent > len(flood) // 2
    events = (Event.HEAD_TIMEOUT, Event.IDLE_TIMEOUT, Event.WRITE_TIMEOUT, Event.MEMORY_LIMIT)
    assert [each for each in events for _ in range(counted(snapshots, each))] == [Event.WRITE_TIMEOUT]


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

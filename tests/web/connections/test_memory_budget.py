"""Backpressure: the memory of what connections hold."""

import asyncio
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service.web.connections.heads import HeadReader
from service.web.connections.limits import READING_SECONDS, Limits, MemoryBudget, release_free_memory
from service.web.http.request import Request
from service.web.http.response import Answer, Response
from service.web.pipeline.counters import Event
from tests.program import SECONDS
from tests.web.connections.harness import GET, GatedApp, Wire

ROOT = Path(__file__).parents[3]
MOST = 8000
SHARE = MOST // 8
NO_ROOM = Limits(held_bytes=1)
FIELD = b"a: %b\r\n"


class Holder:
    """A connection that holds memory."""

    def __init__(self, budget: MemoryBudget, *, reads: bool = False) -> None:
        self.budget, self.reads, self.dropped = budget, reads, False

    def hold(self, size: int) -> "Holder":
        self.budget.hold(self, size)
        return self

    def is_reading(self) -> bool:
        return self.reads

    def shed(self) -> None:
        self.dropped = True
        self.hold(0)


@pytest.fixture
def app() -> Any:
    return SimpleNamespace(memory_used=0.0)


@pytest.fixture
def budget(app: Any) -> MemoryBudget:
    return MemoryBudget(MOST, app, release=bool)


async def test_beyond_the_limit_the_longest_idle_is_dropped(budget: MemoryBudget, app: Any) -> None:
    holders = [Holder(budget).hold(SHARE) for _ in range(8)]
    assert not any(each.dropped for each in holders)
    holders[0].hold(SHARE - 1)  # not idle
    last = Holder(budget).hold(2 * SHARE)
    assert [each.dropped for each in holders] == [False, True, True, *[False] * 5]
    assert (last.dropped, app.memory_used <= 1, budget.held) == (False, True, MOST - 1)


async def test_a_client_that_reads_is_never_dropped(budget: MemoryBudget, app: Any) -> None:
    readers = [Holder(budget, reads=True).hold(SHARE) for _ in range(4)]
    heads = [Holder(budget).hold(SHARE) for _ in range(4)]
    reader = Holder(budget, reads=True).hold(4 * SHARE)
    assert [each.dropped for each in (*readers, *heads, reader)] == [*[False] * 4, *[True] * 4, False]
    assert app.memory_used == 1
    head = Holder(budget).hold(SHARE)
    assert (head.dropped, reader.dropped, app.memory_used) == (True, False, 1)


async def test_a_single_connection_may_hold_more_than_the_limit(budget: MemoryBudget, app: Any) -> None:
    only, other = Holder(budget, reads=True).hold(2 * MOST), Holder(budget, reads=True)
    assert (only.dropped, app.memory_used) == (False, 0)
    other.hold(MOST)
    assert (only.dropped, other.dropped, app.memory_used) == (False, False, 3)  # which the application knows
    other.hold(0)
    assert app.memory_used == 0


async def test_to_find_an_idle_one_a_bounded_number_is_looked_at_and_the_others_follow(budget: MemoryBudget) -> None:
    looks = 0

    class Reader(Holder):
        def is_reading(self) -> bool:
            nonlocal looks
            looks += 1
            return True

    for _ in range(79):
        Reader(budget).hold(SHARE // 10)
    idle = Holder(budget).hold(SHARE // 10)
    for count in range(1, 7):
        added = Holder(budget).hold(SHARE)
        assert looks <= 21 * count
        assert added.dropped or idle.dropped
    assert idle.dropped


async def test_an_unread_response_counts_until_it_is_sent_or_its_connection_ends() -> None:
    wire = Wire(room=10)
    await wire.send(GET)
    assert wire.memory.held == wire.get_write_buffer_size() + 10
    await wire.take()
    assert wire.memory.held == 0
    wire.room = 10
    await wire.send(GET)
    assert wire.memory.held > 0
    wire.drop(ConnectionResetError())
    await wire.take(0)
    assert wire.memory.held == 0


async def test_a_client_that_does_not_read_is_dropped_for_another(budgeted: Limits) -> None:
    wire = Wire(limits=budgeted, room=10)
    await wire.send(GET)
    other = Holder(wire.memory, reads=True).hold(MOST)
    assert not wire.is_closing()  # it has just begun
    wire.clock += READING_SECONDS
    other.hold(MOST + 1)
    assert (wire.is_closing(), wire.memory.held, wire.counted(Event.MEMORY_LIMIT)) == (True, MOST + 1, 1)


async def test_a_client_that_stops_reading_is_dropped_while_much_is_used(budgeted: Limits) -> None:
    wire = Wire(limits=budgeted, room=10)
    await wire.send(GET)
    Holder(wire.memory, reads=True).hold(MOST // 2)
    for _ in range(3):
        await wire.take(1)
        await wire.wait(READING_SECONDS)
    assert not wire.is_closing()
    await wire.wait(READING_SECONDS)
    assert (wire.is_closing(), wire.memory.held) == (True, MOST // 2)


@pytest.fixture
def budgeted() -> Limits:
    return Limits(held_bytes=MOST)


class PageApp(GatedApp):
    """An application that answers every request with the same body."""

    def __init__(self, body: bytes | memoryview) -> None:
        super().__init__()
        self.body = body

    def respond(self, request: Request) -> Response:  # noqa: ARG002 - the answer is the same
        return Response(Answer((self.body,)), authenticated=True)


@pytest.mark.parametrize(
    ("body", "counts"),
    [(bytes(10_000), True), (memoryview(bytearray(10_000)), True), (memoryview(bytes(10_000)), False)],
    ids=["bytes", "a writable view", "a read-only view, as of the mapped file"],
)
async def test_a_body_counts_unless_it_is_mapped_from_a_file(body: bytes | memoryview, *, counts: bool) -> None:
    wire = Wire(PageApp(body), room=10)
    await wire.send(GET)
    assert (wire.memory.held >= len(body)) == counts


async def test_a_head_under_way_counts_until_it_is_complete() -> None:
    wire = Wire()
    start, end = GET[:-2] + FIELD % bytes(b"x" * 5000), b"\r\n"
    await wire.send(start)
    assert wire.memory.held > 2 * len(start)
    await wire.send(end)
    assert (wire.memory.held, wire.statuses) == (0, [200])


async def test_requests_behind_a_response_count() -> None:
    wire = Wire(app := GatedApp())
    app.gate.clear()
    await wire.send(GET, GET * 100)
    assert wire.memory.held == 100 * len(GET)
    app.gate.set()
    await wire.finish()
    assert (wire.memory.held, len(wire.statuses)) == (0, 101)


async def test_what_is_received_and_waits_for_its_turn_counts() -> None:
    wire = Wire()
    wire.turns.authenticated = 1
    wire.put(GET[:-2] + (FIELD % bytes(b"x" * 8000)) * 2)
    assert wire.memory.held > 16_000


async def test_a_request_in_one_packet_that_is_answered_at_once_does_not_touch_the_budget() -> None:
    wire = Wire(PageApp(b""))
    wire.memory.hold = None  # type: ignore[assignment, method-assign]
    await wire.send(GET, GET, GET)
    assert wire.statuses == [200] * 3


HEADS = {
    "one field": FIELD % (b"x" * 8000),
    "wide characters": (FIELD % ("\U0001f600".encode() + b"x" * 8000)) * 3,
    "long fields": (FIELD % (b"x" * 8000)) * 3,
    "many fields": b"".join(b"%d: %b\r\n" % (number, b"x" * 300) for number in range(98)),
    "short fields": b"".join(b"%d:b\r\n" % number for number in range(98)),
}
LINE = b"GET /%b HTTP/1.1\r\nHost: t\r\n"


def under_way(head: bytes) -> tuple[HeadReader, bytearray]:
    """Read an incomplete head."""
    received, heads = bytearray(head), HeadReader()
    assert heads.read(received, ended=False) is None
    return heads, received


@pytest.mark.parametrize("head", [LINE % b"" + each for each in HEADS.values()] + [LINE % (b"x" * 8000)])
def test_a_head_under_way_holds_no_more_than_it_is_counted_as(head: bytes) -> None:
    under_way(head)
    tracemalloc.start()
    held = [under_way(head) for _ in range(20)]
    measured = tracemalloc.get_traced_memory()[0] / len(held)
    tracemalloc.stop()
    assert measured - 3000 <= held[0][0].held <= 6 * measured


@pytest.mark.parametrize("fields", HEADS.values(), ids=HEADS)
async def test_a_connection_without_a_request_holds_little_of_the_last_one(fields: bytes) -> None:
    await Wire(GatedApp()).send(LINE % b"health" + fields + b"\r\n")
    wires = [Wire(GatedApp()) for _ in range(10)]
    tracemalloc.start()
    for wire in wires:
        await wire.send(LINE % b"health" + fields + b"\r\n")
    measured = tracemalloc.get_traced_memory()[0] / len(wires)
    tracemalloc.stop()
    assert measured <= 8 << 10


async def test_memory_is_released_after_much_was_in_use(app: Any) -> None:
    released, loop = asyncio.Event(), asyncio.get_running_loop()
    budget = MemoryBudget(MOST, app, release=lambda: loop.call_soon_threadsafe(released.set))
    for holder in [Holder(budget).hold(SHARE) for _ in range(4)]:
        holder.hold(0)
    async with asyncio.timeout(SECONDS):
        await released.wait()


# In a process of its own. The texts are too small for separate mappings, and the retained ones lie between the freed
# ones.
FREES = """
import ctypes
from pathlib import Path
from service.web.connections.limits import release_free_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

# Objects of their own, not constants: those that are retained lie between those that are freed.
pairs = [(b"x" * large, b"x" * small) for large, small in [(50_000, 1_000)] * 4_000]
retained = [pair[1] for pair in pairs]
del pairs
before = resident()
release_free_memory()
print(before - resident() if hasattr(ctypes.CDLL(None), "malloc_trim") else "there is no malloc_trim")
"""


@pytest.mark.process
def test_free_memory_is_released_to_the_system() -> None:
    printed = subprocess.run([sys.executable, "-c", FREES], capture_output=True, check=True, text=True, cwd=ROOT).stdout
    assert printed == "there is no malloc_trim\n" or int(printed) > 10_000  # pages


def test_a_c_library_without_malloc_trim_is_ignored() -> None:
    release_free_memory(SimpleNamespace())

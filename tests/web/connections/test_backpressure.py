"""Backpressure: the memory of unsent responses."""

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.web.answers.answer import Answer
from service.web.answers.response import Response
from service.web.connections.backpressure import UnsentResponses, release_free_memory
from service.web.connections.limits import MAX_UNSENT_BYTES
from service.web.requests.request import Request
from service.web.telemetry.events import Event
from tests.program import SECONDS
from tests.web.connections.harness import GET, GatedApp, Wire

ROOT = Path(__file__).parents[3]
SHARE = MAX_UNSENT_BYTES // 8


class Writer:
    """A connection with an unsent response."""

    def __init__(self, since: float) -> None:
        self.since, self.dropped = since, False

    def drop(self) -> None:
        self.dropped = True


async def test_beyond_the_limit_the_client_without_progress_for_longest_is_dropped() -> None:
    responses, writers = UnsentResponses(), [Writer(since) for since in (3, 1, 5, 2, 4, 9, 8, 7)]
    for writer in writers:
        responses.add(writer, SHARE)
    assert not any(each.dropped for each in writers)
    last = Writer(10)
    responses.add(last, 2 * SHARE)
    assert [each.since for each in writers if each.dropped] == [1, 2]
    responses.remove(writers[0])
    responses.add(Writer(11), SHARE)
    assert not last.dropped


async def test_a_response_longer_than_the_limit_is_dropped() -> None:
    responses, writer = UnsentResponses(), Writer(0)
    responses.add(writer, MAX_UNSENT_BYTES + 1)
    assert writer.dropped


async def test_a_response_counts_until_it_is_sent_or_its_connection_ends() -> None:
    wire = Wire(room=10)
    responses = wire.unsent
    await wire.send(GET)
    length = wire.get_write_buffer_size() + 10
    other = Writer(float("inf"))
    responses.add(other, MAX_UNSENT_BYTES - length)
    assert not other.dropped
    await wire.take()
    responses.add(Writer(float("inf")), length)
    assert not wire.is_closing()
    await wire.send(GET)
    wire.room = 10
    await wire.send(GET)
    assert (wire.lost, wire.counted(Event.WRITE_LIMIT)) == (True, 1)


class PageApp(GatedApp):
    """An application that answers every request with the same body."""

    def __init__(self, body: bytes | memoryview) -> None:
        super().__init__()
        self.body = body

    async def __call__(self, request: Request) -> Response:  # noqa: ARG002 - the answer is the same
        return Response(Answer((self.body,)), authenticated=True)


@pytest.mark.parametrize(
    ("body", "counts"),
    [(bytes(10_000), True), (memoryview(bytearray(10_000)), True), (memoryview(bytes(10_000)), False)],
    ids=["bytes", "a writable view", "a read-only view, as of the mapped file"],
)
async def test_a_body_counts_unless_it_is_mapped_from_a_file(body: bytes | memoryview, *, counts: bool) -> None:
    wire, other = Wire(PageApp(body), room=10), Writer(float("-inf"))
    await wire.send(GET)
    wire.unsent.add(other, MAX_UNSENT_BYTES - len(body) + 1)
    assert other.dropped == counts


async def test_memory_is_released_after_much_was_in_use() -> None:
    released, loop = asyncio.Event(), asyncio.get_running_loop()
    responses = UnsentResponses(release=lambda: loop.call_soon_threadsafe(released.set))
    writers = [Writer(since) for since in range(4)]
    for writer in writers:
        responses.add(writer, SHARE)
    for writer in writers:
        responses.remove(writer)
    async with asyncio.timeout(SECONDS):
        await released.wait()


# In a process of its own. The texts are too small for separate mappings, and the retained ones lie between the freed
# ones.
FREES = """
import ctypes
from pathlib import Path
from service.web.connections.backpressure import release_free_memory

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

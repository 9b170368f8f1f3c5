"""Streams: bodies that are made while they are sent."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import gt
from typing import Final

import pytest
from aiohttp.web import TCPSite

from service.web.connections.server import runner
from service.web.http.request import Request
from service.web.http.response import Answer, Response, Stream
from service.web.pipeline.counters import Event
from tests.web.connections.harness import GET, LIMITS, GatedApp, Wire, settle

PIECES: Final = (b"one,", b"", b"two,", memoryview(b"three"))
CHUNKS: Final = b"4\r\none,\r\n4\r\ntwo,\r\n5\r\nthree\r\n"
END: Final = b"0\r\n\r\n"
LONG: Final = bytes(1000)
BLANK: Final = b"\r\n\r\n"


class StreamApp(GatedApp):
    """An application that answers every request with a stream; it counts the pieces made and the streams ended."""

    def __init__(self, pieces: Sequence[bytes | memoryview | Exception] = PIECES, nbytes: int = 0) -> None:
        super().__init__()
        self._pieces, self._nbytes = pieces, nbytes
        self.made = self.closed = 0
        self.ended: list[int] = []

    def respond(self, request: Request) -> Response:  # noqa: ARG002 - the answer is the same
        stream = Stream(self._make(), self._nbytes)
        stream.ended = lambda: self.ended.append(stream.sent)
        return Response(Answer((), stream=stream), authenticated=True)

    def _make(self) -> Iterator[bytes | memoryview]:
        try:
            for piece in self._pieces:
                self.made += 1
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.closed += 1


def body(wire: Wire) -> bytes:
    return bytes(wire.received).partition(BLANK)[2]


async def test_pieces_are_chunks_but_for_the_empty_ones_and_the_connection_stays_open() -> None:
    wire = Wire(app := StreamApp())
    await wire.send(GET)
    assert body(wire) == CHUNKS + END
    assert b"Transfer-Encoding: chunked" in wire.received
    assert b"Content-Length" not in wire.received
    assert (app.made, app.closed, app.ended, wire.is_closing()) == (4, 1, [13], False)
    await wire.send(GET, GET + GET)
    assert wire.received.count(CHUNKS + END) == 4


async def test_in_http_1_0_the_body_ends_with_the_connection() -> None:
    for field in (b"", b"Connection: keep-alive\r\n"):
        wire = Wire(StreamApp())
        await wire.send(b"GET /stores.csv HTTP/1.0\r\n%b\r\n" % field)
        await wire.half_close()
        assert (body(wire), wire.is_closing()) == (b"one,two,three", True)
        assert not any(name in wire.received for name in (b"Content-Length", b"Transfer-Encoding", b"keep-alive"))


async def test_nothing_is_made_for_head() -> None:
    wire = Wire(app := StreamApp())
    await wire.send(GET.replace(b"GET", b"HEAD"))
    assert (body(wire), app.made, wire.is_closing()) == (b"", 0, False)
    assert b"Transfer-Encoding: chunked" in wire.received


async def test_a_piece_is_made_when_the_system_has_accepted_the_one_before() -> None:
    wire = Wire(app := StreamApp([LONG] * 3), room=0)
    await wire.send(GET)
    for made in range(3):
        assert app.made == made
        await wire.take(wire.get_write_buffer_size() - 1)
        assert app.made == made
        await wire.take(1)
    await wire.take()
    assert (body(wire)[-5:], app.ended) == (END, [3 * len(LONG)])


@pytest.mark.parametrize(("room", "has_begun"), [(0, False), (1500, True)])
async def test_a_client_that_goes_away_ends_it(room: int, *, has_begun: bool) -> None:
    wire = Wire(app := StreamApp([LONG] * 5), room=room)
    app.gate.clear()
    await wire.send(GET)
    app.gate.set()
    if has_begun:
        await settle()
    wire.drop(ConnectionResetError())
    await settle()
    assert (app.closed, len(app.ended), app.made < 5) == (has_begun, 1, True)


async def test_a_client_that_stops_reading_ends_it_after_the_write_timeout() -> None:
    wire = Wire(app := StreamApp([LONG] * 5), room=1500)
    await wire.send(GET)
    await wire.wait(LIMITS.write_seconds - 1)
    assert (app.closed, wire.lost) == (0, False)
    await wire.take(10)
    await wire.wait(LIMITS.write_seconds - 1)
    assert (app.closed, wire.lost) == (0, False)
    await wire.wait(LIMITS.write_seconds)
    assert (app.closed, wire.lost, wire.counted(Event.WRITE_TIMEOUT)) == (1, True, 1)


async def test_an_error_is_logged_and_the_client_does_not_get_the_end(caplog: pytest.LogCaptureFixture) -> None:
    wire = Wire(app := StreamApp([b"one", ValueError("broken")]))
    await wire.send(GET)
    assert (body(wire), wire.lost, app.ended) == (b"3\r\none\r\n", True, [3])
    assert "unexpected error in a stream" in caplog.text


async def test_a_drain_lets_it_end_and_closes_the_connection_and_an_abort_cuts_it() -> None:
    for is_cut in (False, True):
        wire = Wire(app := StreamApp([LONG] * 5), room=1500)
        await wire.send(GET)
        wire.connection.drain()
        await settle()
        assert not wire.lost
        if is_cut:
            wire.connection.abort()
        await wire.take()
        await settle()
        assert (body(wire)[-5:] == END, wire.lost, app.closed) == (not is_cut, True, 1)


@pytest.mark.parametrize(
    ("version", "room", "resets"), [(b"/1.1", 1500, False), (b"/1.0", 1500, True), (b"/1.0", float("inf"), False)]
)
async def test_only_a_cut_stream_of_http_1_0_is_reset_because_its_end_is_that_of_the_connection(
    version: bytes, room: float, *, resets: bool
) -> None:
    wire = Wire(StreamApp([LONG] * 5), room=room)
    await wire.send(GET.replace(b"/1.1", version))
    wire.connection.abort()
    await settle()
    assert (wire.lost, wire.resets) == (True, resets)


@pytest.mark.process
async def test_a_client_of_http_1_0_sees_that_a_stream_is_cut() -> None:
    runs = runner(StreamApp([LONG, ValueError("broken")]))
    await runs.setup()
    await TCPSite(runs, "127.0.0.1", 0).start()
    reader, writer = await asyncio.open_connection(*runs.addresses[0])
    writer.write(GET.replace(b"/1.1", b"/1.0"))
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    await runs.cleanup()


async def test_what_it_holds_counts_from_its_start_to_its_end() -> None:
    wire = Wire(StreamApp([LONG] * 5, nbytes=1 << 20), room=1500)
    await wire.send(GET)
    assert 1 << 20 < wire.memory.held < (1 << 20) + 2 * len(LONG)
    held = []
    while wire.received[-5:] != END:
        await wire.take(500)
        held.append(wire.memory.held)
    assert min(held[:-1]) >= 1 << 20
    assert held[-1] == 0


async def test_others_have_their_turns_between_pieces() -> None:
    wires = [Wire(StreamApp([LONG] * 5)) for _ in range(3)]
    for wire in wires:
        wire.streams = wires[0].streams
        wire.put(GET)
    lengths: list[list[int]] = []
    while wires[-1].received[-5:] != END:
        await asyncio.sleep(0)
        lengths.append([len(wire.received) for wire in wires])
    grown = [sum(map(gt, now, before)) for before, now in pairwise(lengths)]
    assert max(grown) == 1
    assert all(max(each) - min(each) <= len(LONG) + 20 for each in lengths)


async def test_requests_behind_it_wait_for_its_end() -> None:
    wire = Wire(StreamApp([LONG] * 2), room=1200)
    await wire.send(GET, GET)
    assert wire.received.count(b"HTTP/1.1") == 1
    await wire.take()
    await settle()
    assert wire.received.count(END) == 2

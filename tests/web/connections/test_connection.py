"""A connection, from its first request to its last."""

import asyncio
import logging

import pytest
from hypothesis import given, strategies as st

from service.model.errors import NotFound
from service.web.connections.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES, RECEIVE_BYTES, Limits, LogThrottle, State
from service.web.http.request import Request
from service.web.http.response import Answer, Response
from service.web.pipeline.counters import Event
from tests.web.connections.harness import GET, GatedApp, Wire, settle

LARGE = GET[:-2] + (b"a: " + b"b" * 8000 + b"\r\n") * 2 + b"\r\n"


async def test_a_head_split_before_its_last_bytes_is_one_request() -> None:
    wire = Wire()
    head = GET[:-2] + b"Cookie: " + b"c" * 6000 + b"\r\n\r\n"
    for count in range(1, 20):
        await wire.send(head[:-2], head[-2:])
        assert wire.statuses == [200] * count
        assert wire.connection.state is State.IDLE
    await wire.wait(Limits().idle_seconds - 0.1)
    assert not wire.lost
    await wire.wait(0.1)
    assert (wire.lost, wire.counted(Event.IDLE_TIMEOUT)) == (True, 1)


@pytest.mark.parametrize("packet", [GET, LARGE])
async def test_reading_ahead_of_a_response_is_bounded(packet: bytes) -> None:
    wire = Wire()
    wire.gate.clear()
    await wire.send(GET)
    total = 3 * MAX_HEAD_BYTES // len(packet)
    await wire.send(*[packet] * total)
    received = total * len(packet) - len(wire.unread)
    assert MAX_HEAD_BYTES < received <= MAX_HEAD_BYTES + RECEIVE_BYTES
    wire.gate.set()
    while wire.unread:
        await settle()
    await wire.finish()
    assert wire.statuses == [200] * (total + 1)


@pytest.mark.parametrize("count", [MAX_BODY_BYTES, MAX_BODY_BYTES + 1])
async def test_discarding_before_a_close_is_bounded_in_bytes_and_time(count: int) -> None:
    wire = Wire()
    await wire.send(b"NONSENSE\r\n\r\n", bytes(count))
    assert wire.lost == (count > MAX_BODY_BYTES)
    await wire.wait(Limits().discard_seconds)
    assert wire.lost
    assert [wire.counted(event) for event in (Event.HEAD_TIMEOUT, Event.IDLE_TIMEOUT, Event.WRITE_TIMEOUT)] == [0, 0, 0]


@pytest.mark.parametrize("chunk", [b"x\r\n", b"1\r\nab\r\n", b"fffffff\r\n"])
async def test_a_malformed_body_makes_the_current_response_the_last(chunk: bytes) -> None:
    wire = Wire()
    wire.gate.clear()
    await wire.send(GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n", chunk, GET)
    wire.gate.set()
    await settle()
    assert (wire.statuses, wire.ended) == ([200], True)
    assert b"Connection: close\r\n" in wire.received
    idle = Wire()  # which has responded already
    await idle.send(GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n", chunk, GET)
    assert (idle.statuses, idle.ended) == ([200], True)


class Failing(GatedApp):
    """An app that fails outside its own error handling."""

    def __init__(self, header: str = "") -> None:
        super().__init__()
        self._header = header

    def respond(self, request: Request) -> Response:  # noqa: ARG002 - all fail
        if self._header:
            return Response(Answer((b"{}",)), f"{self._header}\r\n")
        raise NotFound


@pytest.mark.parametrize("is_deferred", [False, True])
@pytest.mark.parametrize("header", ["", "X: \u20ac"], ids=["no response", "one that cannot be written"])
async def test_a_failure_of_the_app_is_a_json_500_without_internal_details(
    header: str, caplog: pytest.LogCaptureFixture, *, is_deferred: bool
) -> None:
    wire = Wire(app := Failing(header))
    if is_deferred:
        app.gate.clear()
    await wire.send(GET, GET)
    app.gate.set()
    await settle()
    assert (wire.statuses, wire.ended) == ([500], True)
    assert wire.received.endswith(b'\r\n\r\n{"detail":"Internal Server Error"}')
    assert [record.message for record in caplog.records] == ["unexpected error on a connection"]


async def test_malformed_requests_are_logged_once_a_minute_with_the_number_suppressed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wires = [Wire() for _ in range(4)]
    for wire in wires:
        wire.malformed = wires[0].malformed
    with caplog.at_level(logging.WARNING):
        for wire in wires[:3]:
            await wire.send(b"NONSENSE\r\n\r\n")
        wires[3].clock += 60
        await wires[3].send(b"NONSENSE\r\n\r\n")
    message = "refused a malformed request from 192.0.2.1: The request is not well-formed HTTP."
    assert [record.message for record in caplog.records] == [message, f"{message} (2 more since the last line)"]


@given(st.lists(st.floats(0, 1000)))
def test_every_message_is_admitted_or_counted(moments: list[float]) -> None:
    throttle = LogThrottle(10)
    admitted = [throttle.admit(now) for now in [*sorted(moments), 5000]]
    assert sum(1 + suppressed for suppressed in admitted if suppressed is not None) == len(admitted)


async def test_no_response_is_sent_after_the_client_disconnects() -> None:
    wire = Wire()
    wire.gate.clear()
    await wire.send(GET + GET)
    wire.abort()
    wire.gate.set()
    await settle()
    assert (wire.statuses, wire.lost) == ([], True)


@pytest.mark.parametrize("sent", [b"", GET[:5], GET])
async def test_an_idle_connection_is_finished_immediately(sent: bytes) -> None:
    wire = Wire()
    await wire.send(sent)
    wire.connection.drain()
    await settle()
    assert wire.lost


async def test_an_active_connection_is_finished_after_its_response() -> None:
    wire = Wire(room=10)
    wire.gate.clear()
    await wire.send(GET)
    wire.connection.drain()
    wire.gate.set()
    await settle()
    assert (wire.connection.state, wire.lost) == (State.WRITING, False)
    wire.connection.drain()
    await wire.take()
    assert (wire.statuses, wire.lost) == ([200], True)
    assert b"Connection: close\r\n" in wire.received


async def test_aborting_a_connection_cancels_its_task() -> None:
    wire = Wire()
    wire.gate.clear()
    assert Wire().connection.abort() is None
    await wire.send(GET)
    task = wire.connection.abort()
    assert task is not None
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (wire.statuses, wire.lost) == ([], True)

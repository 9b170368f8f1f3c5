"""Fair queueing: clients without a valid key wait for their turn, those with one do not wait for many of them."""

import asyncio
import re
from collections import deque
from typing import Any

import pytest

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import TURN_BYTES, Limits, State, Turns
from service.web.http.request import Request
from service.web.http.response import Response
from service.web.pipeline.app import App
from service.web.site import make_site
from tests.web.connections.harness import Wire, settle
from tests.web.live import DEFAULTS, KEY, authentication

REFUSED = b"GET /stores HTTP/1.1\r\nHost: t\r\n\r\n"
KEYED = REFUSED[:-2] + b"x-api-key: " + KEY.encode() + b"\r\n\r\n"
DOCUMENT = REFUSED.replace(b"/stores", b"/docs/swagger-ui-bundle.js")
CROWD = 50


class Passes:
    """An event loop of which nothing is known but that it makes calls, those of one pass together."""

    def __init__(self) -> None:
        self._calls: deque[Any] = deque()
        self.turns = Turns(self._calls.append)
        self.taken: list[str] = []

    def add(self, *names: str) -> None:
        for name in names:
            self.turns.add(Named(self, name).take_turn)

    def run(self) -> str:
        """Make the calls of one pass; return who had a turn."""
        before = len(self.taken)
        for _ in range(len(self._calls)):
            self._calls.popleft()()
        return "".join(self.taken[before:])


class Named:
    """A connection; one in capital letters has more to do after each turn."""

    def __init__(self, passes: Passes, name: str) -> None:
        self._passes, self._name = passes, name

    def take_turn(self) -> None:
        self._passes.taken.append(self._name)
        if self._name.isupper():
            self._passes.turns.add(self.take_turn)


def test_in_each_pass_one_has_its_turn_first_come_first_served() -> None:
    passes = Passes()
    passes.add("a", "b", "C", "d")
    assert [passes.run() for _ in range(7)] == ["a", "b", "C", "d", "C", "C", "C"]


def test_while_nobody_waits_nothing_is_called() -> None:
    passes = Passes()
    passes.add("a")
    assert [passes.run(), passes.run()] == ["a", ""]
    assert not passes._calls  # noqa: SLF001 - the loop may sleep
    passes.add("b")
    assert passes.run() == "b"


def test_requests_of_the_authenticated_come_first_in_a_pass_and_are_then_made_up_for() -> None:
    passes = Passes()
    passes.add(*"abcdef")
    passes.turns.authenticated += 1
    assert [passes.run() for _ in range(3)] == ["", "ab", "c"]


def test_however_many_the_authenticated_ask_of_two_requests_one_is_another_ones() -> None:
    passes = Passes()
    passes.add(*["A"] * 50)
    for _ in range(100):
        for _ in range(20):
            passes.turns.authenticated += 1
        passes.run()
    assert len(passes.taken) >= 100 * 20


def test_a_turn_that_fails_is_not_the_last() -> None:
    passes = Passes()
    passes.add("a")
    passes.turns.add(lambda: 1 // 0)
    passes.add("b")
    assert passes.run() == "a"
    with pytest.raises(ZeroDivisionError):
        passes.run()
    assert passes.run() == "b"


class RecordingApp(App):
    """The application, which notes what it answers, in its order."""

    def __init__(self) -> None:
        self.__dict__.update(make_site(SnapshotHolder(), authentication([KEY]), DEFAULTS).public.__dict__)
        self.answered: list[bool] = []

    def __call__(self, request: Request) -> Response:
        response = super().__call__(request)
        assert isinstance(response, Response)
        self.answered.append(response.authenticated)
        return response


def crowd(app: RecordingApp) -> list[Wire]:
    """Return connections of one listener."""
    wires = [Wire(app) for _ in range(CROWD)]
    for wire in wires[1:]:
        wire.turns = wires[0].turns
    return wires


async def begun(wire: Wire) -> None:
    """Wait until a response has begun to arrive, and no longer."""
    for _ in range(100):
        if wire.received:
            return
        await asyncio.sleep(0)


async def test_a_client_with_a_key_waits_for_no_crowd_without_one() -> None:
    app = RecordingApp()
    keyed, *others = crowd(app)
    await keyed.send(KEYED)
    app.answered.clear()
    for wire in others:
        wire.put(REFUSED)
    keyed.put(KEYED * 10)
    await settle()
    await settle()
    keyed_at = [place for place, authenticated in enumerate(app.answered) if authenticated]
    assert len(keyed_at) == 10
    assert keyed_at[0] <= 2
    assert keyed_at[-1] <= 2 * 10 + 2
    for _ in range(CROWD):
        await settle()
    assert app.answered.count(False) == len(others)
    assert all(wire.statuses == [401] for wire in others)


async def test_a_key_counts_until_the_next_request_has_none() -> None:
    app = RecordingApp()
    keyed, other = crowd(app)[:2]
    await keyed.send(KEYED, REFUSED)
    app.answered.clear()
    for wire in (other, keyed):
        wire.put(REFUSED)
    await settle()
    assert (other.statuses, keyed.statuses) == ([401], [503, 401, 401])


async def test_a_long_response_without_a_key_takes_turns_with_others_and_arrives_whole() -> None:
    reading, other = crowd(RecordingApp())[:2]
    reading.put(DOCUMENT)
    await begun(reading)
    other.put(REFUSED)
    await begun(other)
    assert 0 < len(reading.received) <= 10 * TURN_BYTES
    await reading.send(REFUSED)
    assert reading.statuses == [200, 401]
    length = re.search(rb"Content-Length: (\d+)\r\n", reading.received)
    body = reading.received.partition(b"\r\n\r\n")[2].partition(b"HTTP/1.1 401 ")[0]
    assert length is not None
    assert len(body) == int(length[1]) > 20 * TURN_BYTES


async def test_a_long_response_is_read_slowly_behind_a_body_and_at_the_end_and_arrives_whole() -> None:
    whole, slow = Wire(RecordingApp()), Wire(RecordingApp(), room=10)
    await whole.send(DOCUMENT)
    await slow.send(DOCUMENT[:-2] + b"Content-Length: 100000\r\n\r\n" + bytes(100_000))
    slow.connection.drain()
    while not slow.lost:
        assert slow.connection.state is State.WRITING
        await slow.take(100_000)
        await slow.wait(Limits().write_seconds - 1)
    assert slow.answers.replace(b"Connection: close\r\n", b"") == whole.answers


async def test_of_a_long_response_nothing_is_kept_when_the_client_is_gone() -> None:
    wire = Wire(RecordingApp())
    wire.put(DOCUMENT)
    await begun(wire)
    wire.abort()
    received = len(wire.received)
    await settle()
    assert (len(wire.received), wire.lost) == (received, True)


async def test_a_request_that_waits_at_the_end_is_answered() -> None:
    wire = Wire(RecordingApp())
    wire.put(REFUSED)
    wire.connection.drain()
    await settle()
    assert (wire.statuses, wire.lost) == ([401], True)

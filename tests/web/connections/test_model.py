"""A connection against a model: both do the same, whatever the client sends, reads and waits for."""

import asyncio
from collections.abc import Awaitable
from typing import Any, Final

import msgspec
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.web.connections.limits import Limits, State
from service.web.pipeline.counters import Event
from tests.web.connections.harness import GET, GatedApp, Wire

LIMITS: Final = Limits(head_seconds=10, idle_seconds=30, write_seconds=15, discard_seconds=1)
SECONDS: Final = {
    State.HEAD: 10,
    State.IDLE: 30,
    State.WRITING: 15,
    State.BODY: 1,
    State.CLOSING: 1,
    State.ANSWERING: float("inf"),
}
EVENTS: Final = {State.HEAD: Event.HEAD_TIMEOUT, State.IDLE: Event.IDLE_TIMEOUT, State.WRITING: Event.WRITE_TIMEOUT}


class Item(msgspec.Struct, frozen=True):
    """Something a client may send.

    status  of the response to it
    last    whether the connection closes after it
    lingers whether the client may still be sending, as far as the server knows
    """

    head: bytes
    body: bytes = b""
    status: int = 200
    last: bool = False
    lingers: bool = False


def _get(*fields: bytes, path: bytes = b"/health", version: bytes = b"1.1") -> bytes:
    return b"\r\n".join((b"GET " + path + b" HTTP/" + version, b"Host: t", *fields, b"", b""))


NONSENSE: Final = Item(b"NONSENSE\r", status=400, last=True, lingers=True)
CHUNKED: Final = b"Transfer-Encoding: chunked"
ITEMS: Final = (
    Item(GET),
    Item(_get(path=b"/nope"), status=404),
    Item(_get(b"Content-Length: 7"), b"\r\n\r\n\r\n\r"),
    Item(_get(CHUNKED), b"4\r\n\r\n\r\n\r\n1;a=b\r\nx\r\n0\r\nx: y\r\n\r\n"),
    Item(_get(b"Connection: close"), last=True),
    Item(_get(b"Connection: close", b"Content-Length: 3"), b"abc", last=True),
    Item(_get(b"Expect: 100-continue", b"Content-Length: 3"), b"abc", last=True),
    Item(_get(version=b"1.0"), last=True),
    Item(_get(b"Content-Length: 2000000"), status=413, last=True, lingers=True),
    Item(_get(version=b"2.0"), status=400, last=True, lingers=True),
    NONSENSE,
)


class Model:
    """The behaviour of a connection, in terms of events instead of bytes."""

    def __init__(self) -> None:
        self.now = self.since = 0.0
        self.state: State | None = State.HEAD  # None: closed
        self.statuses: list[int] = []
        self.events: list[Event] = []
        self.items: list[Item] = []  # begun by the client and not answered
        self.arrived = 0  # bytes of them
        self.current: Item | None = None  # has a response, or will have one
        self.body_left = 0  # of the current item
        self.half_closed = False
        self.room = self.gate = True

    def go_on(self) -> None:
        """Take all possible steps."""
        while self.state is not None:
            before = (self.state, len(self.items), self.body_left)
            self._step()
            if before == (self.state, len(self.items), self.body_left):
                break
        if self.half_closed and self.state in (State.HEAD, State.IDLE, State.BODY):
            self._enter(None)  # the rest will not come

    def _step(self) -> None:
        if self.state is State.CLOSING:
            self.arrived = 0
            if self.half_closed:
                self._enter(None)
            return
        skipped = min(self.body_left, self.arrived)
        self.body_left, self.arrived = self.body_left - skipped, self.arrived - skipped
        if self.state is State.BODY and not self.body_left:
            self._enter(State.IDLE)
        if self.state in (State.HEAD, State.IDLE):
            self._take_head()
        elif self.state is State.ANSWERING and self.gate:
            self._enter(State.WRITING)
        elif self.state is State.WRITING and self.room:
            self._answered()

    def _take_head(self) -> None:
        item = self.items[0] if self.items else None
        if item is NONSENSE and self.half_closed and self.arrived >= len(b"NON"):  # no method begins like this
            self.arrived = len(item.head)
        if item is not None and self.arrived >= len(item.head):
            self.items.pop(0)
            self.arrived -= len(item.head)
            self.current, self.body_left = item, len(item.body)
            self._enter(State.WRITING if item is NONSENSE else State.ANSWERING)
        elif self.arrived and self.state is State.IDLE:
            self._enter(State.HEAD)

    def _answered(self) -> None:
        assert self.current is not None
        self.statuses.append(self.current.status)
        if not self.current.last:
            self._enter(State.BODY if self.body_left else State.IDLE)
        elif self.half_closed or not (self.current.lingers or self.body_left or self.arrived):
            self._enter(None)
        else:
            self._enter(State.CLOSING)

    def wait(self, seconds: float) -> None:
        """Let time pass, then check the timeout once."""
        self.now += seconds
        if self.state is not None and self.now - self.since >= SECONDS[self.state]:
            self.events += [EVENTS[self.state]] if self.state in EVENTS else []
            self._enter(None)

    def _enter(self, state: State | None) -> None:
        self.state, self.since = state, self.now


class Connections(RuleBasedStateMachine):
    """One connection and its model."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.app = GatedApp()
        self.model = Model()
        self.unsent = b""
        self.wire: Any = self.do(self._connect())

    async def _connect(self) -> Wire:
        wire = Wire(self.app, LIMITS)
        wire.clock = 0.0
        wire.connection.since = 0.0
        return wire

    def do(self, act: Awaitable[Any]) -> Any:
        """Run an action in the loop."""
        return self.loop.run_until_complete(act)

    def teardown(self) -> None:
        self.app.gate.set()
        self.do(self.wire.wait(0))
        self.loop.close()

    def is_open(self) -> bool:
        return self.model.state is not None and not self.model.half_closed

    @rule(item=st.sampled_from(ITEMS), share=st.sampled_from([1.0, 1.0, 0.0, 0.5, 0.9]))
    @precondition(lambda self: self.is_open() and not self.unsent)
    def send_an_item_or_its_beginning(self, item: Item, share: float) -> None:
        self.unsent = item.head + item.body
        self.model.items.append(item)
        self.send_more(share=share)

    @rule(share=st.sampled_from([0.1, 0.5, 1.0]))
    @precondition(lambda self: self.is_open() and self.unsent)
    def send_more(self, share: float) -> None:
        count = int(len(self.unsent) * share)
        part, self.unsent = self.unsent[:count], self.unsent[count:]
        if part:
            self.do(self.wire.send(part))
            self.model.arrived += len(part)
        self.model.go_on()

    @rule(opened=st.booleans())
    def open_or_close_the_gate(self, *, opened: bool) -> None:
        (self.app.gate.set if opened else self.app.gate.clear)()
        self.do(self.wire.take(0))
        self.model.gate = opened
        self.model.go_on()

    @rule(reads=st.booleans())
    def read_or_do_not(self, *, reads: bool) -> None:
        if reads:
            self.wire.room = 0
            self.do(self.wire.take())
        else:
            self.wire.room = 0
        self.model.room = reads
        self.model.go_on()

    @rule()
    @precondition(is_open)
    def half_close(self) -> None:
        self.do(self.wire.half_close())
        self.model.half_closed = True
        self.model.go_on()

    @rule(seconds=st.sampled_from([0.4, 1, 5, 9.9, 15, 29.5, 30]))
    def wait(self, seconds: float) -> None:
        self.do(self.wire.wait(0))  # so that the unsent bytes are known
        self.do(self.wire.wait(seconds))
        self.model.wait(seconds)

    @invariant()
    def they_agree(self) -> None:
        model, wire = self.model, self.wire
        assert wire.lost == (model.state is None), (wire.connection.state, model.state)
        if model.state is not None:
            assert wire.connection.state is model.state
            assert wire.connection.since == model.since or model.state is State.ANSWERING  # which has no timeout
        assert wire.statuses[: len(model.statuses)] == model.statuses
        assert len(wire.statuses) <= len(model.statuses) + (model.state is not State.ANSWERING)
        counted = [event for event in EVENTS.values() for _ in range(wire.counted(event))]
        assert counted == model.events


TestConnections = Connections.TestCase
TestConnections.settings = settings(
    max_examples=2 * settings().max_examples,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

"""A connection of a client: requests in, responses out, one at a time and in order."""

import asyncio
import logging
from collections import deque
from typing import Final, Protocol, cast

from aiohttp import HttpVersion, HttpVersion11

from service.errors import InternalServerError, RequestError
from service.web.app import App
from service.web.connections.aiohttp_names import RawRequestMessage
from service.web.connections.body import Body
from service.web.connections.heads import HeadReader
from service.web.connections.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES, RECEIVE_BYTES, TURN_BYTES
from service.web.connections.log_throttling import LogThrottle
from service.web.connections.refusals import Refusal
from service.web.connections.request import Request, read_request
from service.web.connections.timeouts import TIMEOUT_EVENTS, State, unsent_bytes
from service.web.connections.turns import Turns
from service.web.connections.unsent import UnsentResponses
from service.web.event import Event
from service.web.forwarding import UNIX
from service.web.response import Pieces, Response, parts

# All connections receive into the same memory: what came is taken from it before anything else can be received.
_RECEIVE: Final = memoryview(bytearray(RECEIVE_BYTES))

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """What a connection needs of the server that accepted it."""

    app: App
    loop: asyncio.AbstractEventLoop
    timeouts: dict[State, float]
    malformed: LogThrottle
    turns: Turns
    unsent: UnsentResponses

    def connected(self, connection: "Connection") -> None:
        """Take a connection that is open from now on."""

    def disconnected(self, connection: "Connection") -> None:
        """Drop a connection that is closed."""


class Connection(asyncio.BufferedProtocol):
    """A connection, in one `State` at a time.

        HEAD ──► ANSWERING ──► WRITING ──► BODY ──► IDLE ──► HEAD
                                  └──► CLOSING

    WRITING is left out where the system takes the response at once; BODY, where the request has none or all of it is
    there. A body is skipped in whatever state it comes. While ANSWERING and WRITING the next requests wait as bytes, up
    to MAX_HEAD_BYTES + RECEIVE_BYTES; so does all that is received, until it is the turn of the connection, unless its
    last request had a valid key. Without one, a long response is sent in parts, each at a turn.
    """

    __slots__ = (
        "_authenticated",
        "_body",
        "_closes",
        "_half_closed",
        "_heads",
        "_lingers",
        "_listener",
        "_queued",
        "_reading_paused",
        "_received",
        "_remote",
        "_rest",
        "_skipped",
        "_task",
        "_transport",
        "_unsent",
        "since",
        "state",
    )

    _transport: asyncio.Transport

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._heads = HeadReader()
        self._received = bytearray()  # and not used yet
        self._body: Body | None = None  # of the last request, where more of it is to come
        self._task: asyncio.Task[None] | None = None
        self._rest: deque[memoryview] = deque()  # of the response, to be sent in further turns
        self._remote: str | None = None
        self._authenticated = False  # by the last request
        self._queued = False  # for a turn
        self._reading_paused = False
        self._half_closed = False  # by the client
        self._closes = False  # with the response that is under way
        self._lingers = False  # then, as the client may not know that
        self._skipped = 0  # bytes, since the last response
        self._unsent = 0  # bytes, when the timeout was last checked
        self.state, self.since = State.HEAD, listener.loop.time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(0)  # writing is paused until the system has taken all of a response
        peer = transport.get_extra_info("peername")
        self._remote = peer[0] if isinstance(peer, tuple) else None  # a client can give its Unix socket any name
        self._listener.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the reason changes nothing
        """Drop what was received. A response that is being made is made, but not sent."""
        self._received.clear()
        self._rest.clear()
        self._listener.unsent.remove(self)
        self._listener.disconnected(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - a hint
        """Return the memory to receive into."""
        return _RECEIVE

    def buffer_updated(self, nbytes: int) -> None:
        """Use what was received, now or when it is this connection's turn."""
        self._received += _RECEIVE[:nbytes]
        self._go_on()

    def eof_received(self) -> bool:
        """Stay open until all requests have their responses that the client sent before it closed its side."""
        self._half_closed = True
        self._go_on()
        return not self._transport.is_closing()

    def pause_writing(self) -> None:
        """Wait for the client to take the response."""
        self._unsent = 0
        self._enter(State.WRITING)

    def resume_writing(self) -> None:
        """Go on, as the system has taken all of the response."""
        self._listener.unsent.remove(self)
        self._next()

    def take_turn(self) -> None:
        """Send the next part of a response, or use what is received."""
        self._queued = False
        if self._transport.is_closing():
            return
        if self._rest:
            self._write((self._rest.popleft(),))
        else:
            self._read()

    def check_timeout(self, now: float) -> None:
        """End the connection if its state has lasted too long; WRITING, if the client took nothing for too long."""
        if self._transport.is_closing():
            return
        if self.state is State.WRITING and (unsent := unsent_bytes(self._transport)) != self._unsent:
            self._unsent, self.since = unsent, now
        if now - self.since >= self._listener.timeouts[self.state]:
            if event := TIMEOUT_EVENTS.get(self.state):
                self._listener.app.traffic.count(event)
            self._transport.abort()  # to close would be to wait for the client again

    def drop(self) -> None:
        """End the connection, as too much is held of responses that clients do not take."""
        self._listener.app.traffic.count(Event.WRITE_LIMIT)
        self._transport.abort()

    def finish(self) -> None:
        """Close after the response that is under way, or that to a request received already; now if there is none."""
        if self._queued:
            self._read()
        self._closes = True
        if self.state not in (State.ANSWERING, State.WRITING):
            self._transport.close()

    def abort(self) -> asyncio.Task[None] | None:
        """End the connection now; return the task that makes a response, if there is one: it is cancelled."""
        self._transport.abort()
        if self._task is not None:
            self._task.cancel()
        return self._task

    def _enter(self, state: State) -> None:
        self.state, self.since = state, self._listener.loop.time()

    def _go_on(self) -> None:
        """Use what is received: at once if the client is authenticated, else when it is this connection's turn."""
        if self._authenticated or not self._received:
            self._read()
            return
        if self._body is not None or self.state not in (State.ANSWERING, State.WRITING):
            self._queue()
        self._bound_received()

    def _queue(self) -> None:
        """Wait for a turn, unless this connection does already."""
        if not self._queued:
            self._queued = True
            self._listener.turns.add(self)

    def _read(self) -> None:
        """Use what is received, as far as that is possible now."""
        if self.state is State.CLOSING:
            self._discard()
        elif self._body is not None:
            self._skip(self._body)
        if self.state in (State.HEAD, State.IDLE):
            self._read_head()
        if self._half_closed and self.state in (State.HEAD, State.IDLE, State.BODY):
            self._transport.close()  # what is missing will not come
        self._bound_received()

    def _bound_received(self) -> None:
        """Read no more from the client while much is received and not used."""
        if self._reading_paused != (len(self._received) > MAX_HEAD_BYTES) and not self._transport.is_closing():
            self._reading_paused = not self._reading_paused
            (self._transport.pause_reading if self._reading_paused else self._transport.resume_reading)()

    def _skip(self, body: Body) -> None:
        """Skip what there is of a body; where it turns out to be malformed or too large, its response is the last."""
        try:
            body.skip(self._received)
        except RequestError:
            self._closes = self._lingers = True
            self._body = None
        else:
            self._body = None if body.ended else body
        if self.state is State.BODY and self._body is None:
            self._next()

    def _discard(self) -> None:
        self._skipped += len(self._received)
        self._received.clear()
        if self._half_closed or self._skipped > MAX_BODY_BYTES:
            self._transport.close()

    def _read_head(self) -> None:
        head = self._heads.read(self._received, ended=self._half_closed)
        if isinstance(head, Refusal):
            self._refuse(head)
        elif head is not None:
            self._start(head)
        elif self.state is State.IDLE and self._heads.begun:
            self._enter(State.HEAD)

    def _refuse(self, refusal: Refusal) -> None:
        """Respond to what is not a request, and log nothing that the client wrote."""
        app, remote = self._listener.app, self._remote
        self._received.clear()
        if refusal.target is not None:
            self._send(self._encode(app.unknown_method(refusal.target, refusal.accept, remote)))
            return
        if (suppressed := self._listener.malformed.admit(self._listener.loop.time())) is not None:
            more = f" ({suppressed:,} more since the last line)" if suppressed else ""
            meaning = type(refusal.error).meaning
            _log.warning("refused a malformed request from %s: %s%s", remote or UNIX, meaning, more)
        self._send(self._encode(app.malformed(refusal.error, refusal.accept, remote)))

    def _start(self, message: RawRequestMessage) -> None:
        request, self._body = read_request(message, self._received, self._remote)
        self._closes = not request.keep_alive
        if self._authenticated:
            self._listener.turns.count_authenticated()
        self.state = State.ANSWERING
        self._task = self._listener.loop.create_task(self._answer(request))

    async def _answer(self, request: Request) -> None:
        app = self._listener.app
        try:
            response = await app(request)
            self._authenticated = response.authenticated
            pieces = self._encode(response, request.method, request.version)
        except Exception:  # noqa: BLE001 - whatever it is, the client gets a response and the log the traceback
            _log.exception("a connection failed")
            pieces = self._encode(app.malformed(InternalServerError(), (), self._remote))
        self._send(pieces)

    def _encode(self, response: Response, method: str = "", version: HttpVersion = HttpVersion11) -> Pieces:
        """Return a response as it is sent, and close after it if either side wants that."""
        self._closes, self._lingers = self._closes or response.closes, self._lingers or response.closes
        return response.encode(method, version, keep_alive=not self._closes)

    def _send(self, pieces: Pieces) -> None:
        """Send a response, unless the client is gone."""
        if self._transport.is_closing():
            return
        if not self._authenticated and sum(map(len, pieces)) > TURN_BYTES:
            self._rest.extend(parts(pieces, TURN_BYTES))
            pieces = (self._rest.popleft(),)
        self._write(pieces)

    def _write(self, pieces: Pieces) -> None:
        self._transport.writelines(pieces)
        if self.state is State.WRITING:  # pieces that are no `bytes` are mapped from a file
            self._listener.unsent.add(self, sum(len(piece) for piece in pieces if isinstance(piece, bytes)))
        else:
            self._next()

    def _next(self) -> None:
        """Go on once the system has taken a response or a part of it, or the client's body is skipped after that."""
        if self._rest:
            self.state = State.ANSWERING
            self._queue()
            return
        if self._closes:
            self._close()
            return
        self._enter(State.IDLE if self._body is None else State.BODY)
        if self._received or self._half_closed:
            self._go_on()

    def _close(self) -> None:
        """Close, but not before the client has read the response: to close on what it still sends would reset that."""
        if self._half_closed or not (self._lingers or self._received or self._body is not None):
            self._transport.close()
            return
        self._transport.write_eof()
        self._enter(State.CLOSING)
        self._discard()
        self._bound_received()

"""A connection of a client: requests in, responses out, one at a time and in order."""

import asyncio
import logging
import socket
from collections import deque
from struct import pack
from typing import Final, Protocol, cast

from aiohttp import HttpVersion, HttpVersion11, hdrs

from service.model.errors import InternalServerError, RequestError
from service.web.connections.framing import RequestBody, read_request
from service.web.connections.heads import HeadReader, RejectedHead, RepeatedFields
from service.web.connections.limits import (
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    READING_SECONDS,
    RECEIVE_BYTES,
    TIMEOUT_EVENTS,
    TURN_BYTES,
    UNCOUNTED_BYTES,
    LogThrottle,
    MemoryBudget,
    State,
    Turns,
    unsent_bytes,
)
from service.web.http.forwarded import UNIX
from service.web.http.request import Request
from service.web.http.response import Pieces, Response, Stream, chunk, held_bytes, split
from service.web.pipeline.answers import Deferred
from service.web.pipeline.app import FILES_SHARE, App
from service.web.pipeline.counters import Event

# All connections receive into the same buffer. Each copies its bytes out before the event loop reads again.
_RECEIVE: Final = memoryview(bytearray(RECEIVE_BYTES))

# To look a member of an enumeration up in its class takes six times as long.
_HEAD, _ANSWERING, _WRITING, _BODY, _IDLE, _CLOSING = State

# Of SO_LINGER (socket(7)): closing resets the connection.
_RESET: Final = pack("ii", 1, 0)

_log = logging.getLogger(__name__)


class ConnectionServer(Protocol):
    """The server of a connection, as far as this knows it."""

    app: App
    loop: asyncio.AbstractEventLoop
    timeouts: dict[State, float]
    malformed: LogThrottle
    turns: Turns
    streams: Turns
    memory: MemoryBudget

    def connected(self, connection: "Connection") -> None:
        """Add an open connection."""

    def disconnected(self, connection: "Connection") -> None:
        """Remove a closed connection."""


class Connection(asyncio.BufferedProtocol):
    """A connection, in one `State` at a time.

        HEAD ──► ANSWERING ──► WRITING ──► BODY ──► IDLE ──► HEAD
                                  └──► CLOSING

    WRITING is skipped if the system accepts the whole response at once; BODY, if the request has no body or all of it
    is received. A body is discarded in any state. While ANSWERING and WRITING, further requests wait as bytes, up to
    MAX_HEAD_BYTES + RECEIVE_BYTES. Unless the last request had a valid key, everything received waits until it is the
    connection's turn, and a long response is sent in parts, one per turn. Streams take turns of their own: a piece is
    made when the system has accepted the one before it.

    Five ways to end it:

    shed    abort, because its memory is needed for others
    drain   close after the response to the last received request
    abort   abort, and cancel the request
    _reset  abort at once; reset if the client might take an incomplete stream for a complete one
    _close  close once the client has read the response
    """

    __slots__ = (
        "_authenticated",
        "_body",
        "_chunked",
        "_closes",
        "_half_closed",
        "_heads",
        "_held",
        "_lingers",
        "_queued",
        "_reading_paused",
        "_received",
        "_remote",
        "_repeated",
        "_rest",
        "_sending",
        "_server",
        "_skipped",
        "_stream",
        "_task",
        "_transport",
        "_unsent",
        "since",
        "state",
    )

    _transport: asyncio.Transport

    def __init__(self, server: ConnectionServer) -> None:
        self._server = server
        self._heads = HeadReader()
        self._repeated = RepeatedFields()
        self._received = bytearray()  # and not parsed yet
        self._body: RequestBody | None = None  # of the last request, if more of it is to come
        self._task: asyncio.Task[None] | None = None
        self._rest: deque[memoryview] = deque()  # of the response, for further turns
        self._stream: Stream | None = None  # the rest of the response
        self._chunked = False  # the stream
        self._remote: str | None = None
        self._authenticated = False  # by the last request
        self._queued = False  # for a turn
        self._reading_paused = False
        self._half_closed = False  # by the client
        self._closes = False  # after the current response
        self._lingers = False  # before closing: the client may still be sending
        self._skipped = 0  # bytes, since the last response
        self._unsent = 0  # bytes, when the client's progress was last checked
        self._sending = 0  # bytes of memory of what the system has not accepted
        self._held = 0  # bytes that are counted in the budget
        self.state, self.since = _HEAD, server.loop.time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(0)  # pause writing until the system has accepted all of a response
        peer = transport.get_extra_info("peername")
        self._remote = peer[0] if isinstance(peer, tuple) else None  # a client chooses the name of its Unix socket
        self._server.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Discard the received bytes, cancel what waits for a response, and end a stream."""
        if isinstance(exc, TimeoutError):  # TCP_USER_TIMEOUT, which a busy process may notice before its own timeout
            self._server.app.traffic.count(Event.WRITE_TIMEOUT)
        self._received.clear()
        self._rest.clear()
        self._end_stream()
        if self._task is not None:
            self._task.cancel()
            self._task = None  # its error refers to this connection
        self._hold(0)
        self._server.disconnected(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - a hint
        """Return the memory to receive into."""
        return _RECEIVE

    def buffer_updated(self, nbytes: int) -> None:
        """Process what was received, now or when it is this connection's turn."""
        self._received += _RECEIVE[:nbytes]
        self._continue()

    def eof_received(self) -> bool:
        """Stay open until all requests that the client sent before it closed its side have their responses."""
        self._half_closed = True
        self._continue()
        return not self._transport.is_closing()

    def pause_writing(self) -> None:
        """Wait for the client to receive the response."""
        self._unsent = 0
        self._enter(_WRITING)

    def resume_writing(self) -> None:
        """Go on: the system has accepted all of the response."""
        self._sending = 0
        self._count_held()
        self._next()

    def take_turn(self) -> None:
        """Send the next part of a response, or process the received bytes."""
        self._queued = False
        if self._transport.is_closing():
            return
        if self._rest:
            self._send((self._rest.popleft(),))
        elif self._stream is not None and self.state is _ANSWERING:
            self._send_piece(self._stream)
        else:
            self._read()

    def check_timeout(self, now: float) -> None:
        """Abort the connection if its state has timed out; in WRITING, if the client has received nothing meanwhile."""
        if self._transport.is_closing():
            return
        is_reading = self.is_reading()
        if now - self.since >= self._server.timeouts[self.state]:
            if event := TIMEOUT_EVENTS.get(self.state):
                self._server.app.traffic.count(event)
            self._reset()  # closing would wait for the client again
        elif self._held and not is_reading and self._server.app.memory_used > FILES_SHARE:
            self.shed()

    def is_reading(self) -> bool:
        """Return whether the client receives a response: some of it lately, or it waits for this connection's turn."""
        if self.state is not _WRITING:
            return self._stream is not None or bool(self._rest)
        now = self._server.loop.time()
        if (unsent := unsent_bytes(self._transport)) != self._unsent:
            self._unsent, self.since = unsent, now
        return now - self.since < READING_SECONDS

    def shed(self) -> None:
        """Abort the connection and release its memory, which is needed for others."""
        self._server.app.traffic.count(Event.MEMORY_LIMIT)
        self._reset()
        self._hold(0)

    def drain(self) -> None:
        """Close after the response to the current or a received request; now if there is none."""
        if self._queued:
            self._read()
        self._closes = True
        if self.state not in (_ANSWERING, _WRITING):
            self._transport.close()

    def abort(self) -> asyncio.Task[None] | None:
        """Abort the connection; cancel and return the task of the current response, if there is one."""
        self._reset()
        if self._task is not None:
            self._task.cancel()
        return self._task

    def _reset(self) -> None:
        """Abort the connection; reset it if it ends a stream of HTTP/1.0, which would look complete."""
        if self._stream is not None and not self._chunked:
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def _count_held(self) -> None:
        """Count the memory that this connection holds: received bytes, a response that is not sent, a stream."""
        if self._transport.is_closing():
            return
        received = self._heads.held or len(self._received)
        stream = 0 if self._stream is None else self._stream.nbytes
        self._hold((received if received > UNCOUNTED_BYTES else 0) + self._sending + stream)

    def _hold(self, size: int) -> None:
        if size != self._held:
            self._held = size
            self._server.memory.hold(self, size)

    def _enter(self, state: State) -> None:
        self.state, self.since = state, self._server.loop.time()

    def _continue(self) -> None:
        """Process the received bytes: now if the client is authenticated, else when it is this connection's turn."""
        if self._transport.is_closing():
            return
        if self._authenticated or not self._received:
            self._read()
            return
        if self._body is not None or self.state not in (_ANSWERING, _WRITING):
            self._queue()
        self._bound_received()

    def _queue(self) -> None:
        """Wait for a turn, unless this connection already does."""
        if not self._queued:
            self._queued = True
            (self._server.turns if self._stream is None else self._server.streams).add(self.take_turn)

    def _read(self) -> None:
        """Process the received bytes as far as the state allows."""
        if self.state is _CLOSING:
            self._discard()
        elif self._body is not None:
            self._skip(self._body)
        started = self.state in (_HEAD, _IDLE) and self._read_head()
        if self._half_closed and not started and self.state in (_HEAD, _IDLE, _BODY):
            self._transport.close()  # the rest will not come
        if self._received or self._held or self._reading_paused:
            self._bound_received()

    def _bound_received(self) -> None:
        """Pause reading from the client while many bytes wait to be processed."""
        if self._held or self._received:
            self._count_held()
        if self._reading_paused != (len(self._received) > MAX_HEAD_BYTES) and not self._transport.is_closing():
            self._reading_paused = not self._reading_paused
            (self._transport.pause_reading if self._reading_paused else self._transport.resume_reading)()

    def _skip(self, body: RequestBody) -> None:
        """Skip the received part of a body. If it is malformed or too large, the connection closes afterwards."""
        try:
            body.skip(self._received)
        except RequestError:
            self._closes = self._lingers = True
            self._body = None
        else:
            self._body = None if body.ended else body
        if self.state is _BODY and self._body is None:
            self._next()

    def _discard(self) -> None:
        self._skipped += len(self._received)
        self._received.clear()
        if self._half_closed or self._skipped > MAX_BODY_BYTES:
            self._transport.close()

    def _read_head(self) -> bool:
        """Read a head and answer its request; return whether it was all there."""
        line = None if self._heads.parsed else self._repeated.find(self._received)
        if line is not None and self._read_line(line):
            return True
        head = self._heads.read(self._received, ended=self._half_closed)
        if isinstance(head, RejectedHead):
            self._reject(head)
        elif head is not None:
            request, self._body = read_request(head, self._received, self._remote, self._heads.method)
            self._repeated.remember(self._heads.last, request)
            self._heads.last, self._heads.method = b"", None
            self._start(request)
        elif self.state is _IDLE and self._heads.parsed:
            self._enter(_HEAD)
        return head is not None

    def _read_line(self, line: bytes) -> bool:
        """Answer a request that repeats the last header fields; return whether its line could be read."""
        repeated = self._repeated
        response: Response | None = None
        if self._authenticated and repeated.fields is not None:
            response = self._server.app.from_cache(line, repeated.fields, self._remote)
        request = repeated.read(line, self._remote) if response is None else None
        if request is None and response is None:
            return False
        del self._received[: repeated.end]
        self._heads.line_end_bytes = 0  # those before this request
        if request is not None:
            self._start(request)
        elif response is not None:
            self._server.turns.authenticated += 1
            self.state = _ANSWERING
            self._send(self._encode(response, hdrs.METH_GET, HttpVersion11))
        return True

    def _reject(self, head: RejectedHead) -> None:
        """Respond to a malformed request, and log nothing of its content."""
        app, remote = self._server.app, self._remote
        self._received.clear()
        if (suppressed := self._server.malformed.admit(self._server.loop.time())) is not None:
            more = f" ({suppressed:,} more since the last line)" if suppressed else ""
            meaning = type(head.error).meaning
            _log.warning("refused a malformed request from %s: %s%s", remote or UNIX, meaning, more)
        self._send(self._encode(app.malformed(head.error, head.accept, remote)))

    def _start(self, request: Request) -> None:
        self._closes = not request.keep_alive
        self._server.turns.authenticated += self._authenticated
        self.state = _ANSWERING
        try:
            response = self._server.app(request)
            if not isinstance(response, Response):
                self._task = self._server.loop.create_task(self._answer(request, response))
                return
            pieces = self._encode(response, request.method, request.version)
        except Exception:  # noqa: BLE001 - as in `_answer`
            pieces = self._unexpected()
        self._send(pieces)

    async def _answer(self, request: Request, waiting: Deferred[Response]) -> None:
        try:
            pieces = self._encode(await waiting(), request.method, request.version)
        except Exception:  # noqa: BLE001 - the client gets a 500 and the log the traceback
            pieces = self._unexpected()
        self._send(pieces)

    def _unexpected(self) -> Pieces:
        _log.exception("unexpected error on a connection")
        return self._encode(self._server.app.malformed(InternalServerError(), (), self._remote))

    def _encode(self, response: Response, method: str = "", version: HttpVersion = HttpVersion11) -> Pieces:
        """Encode a response. The connection closes after it if either side wants that, or nothing else ends it."""
        stream, self._authenticated = response.answer.stream, response.authenticated
        is_unframed = stream is not None and version != HttpVersion11
        self._closes, self._lingers = self._closes or response.closes or is_unframed, self._lingers or response.closes
        pieces = response.encode(method, version, keep_alive=not self._closes)
        if stream is not None and method != hdrs.METH_HEAD:
            self._stream, self._chunked = stream, not is_unframed
            self._count_held()
        return pieces

    def _send(self, pieces: Pieces) -> None:
        """Send a response or a part of it, unless the client is gone."""
        if self._transport.is_closing():
            self._end_stream()
            return
        if not self._authenticated and sum(map(len, pieces)) > TURN_BYTES:
            self._rest.extend(split(pieces, TURN_BYTES))
            pieces = (self._rest.popleft(),)
        self._transport.writelines(pieces)
        if self.state is _WRITING:
            self._sending = held_bytes(pieces)
            self._count_held()
        else:
            self._next()

    def _send_piece(self, stream: Stream) -> None:
        """Send the next piece of a stream. After an error the client does not get the end of it."""
        try:
            piece = stream.take()
        except Exception:  # noqa: BLE001 - the client sees that the body is incomplete, and the log has the traceback
            _log.exception("unexpected error in a stream")
            self._reset()
            return
        if piece is None:
            self._end_stream()
        elif not piece:  # which would be the last chunk
            self._queue()
            return
        if self._chunked:
            self._send(chunk(piece))
        elif piece is None:
            self._next()
        else:
            self._send((piece,))

    def _end_stream(self) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.close()
            self._count_held()

    def _next(self) -> None:
        """Go on after the system has accepted a response or a part of it, and after the rest of the request's body."""
        if self._rest or self._stream is not None:
            self.state = _ANSWERING
            self._queue()
            return
        if self._closes:
            self._close()
            return
        self.state, self.since = _IDLE if self._body is None else _BODY, self._server.loop.time()
        if self._received or self._half_closed:
            self._server.loop.call_soon(self._continue)  # not at once: others have their turn before the next request

    def _close(self) -> None:
        """Close once the client has read the response: closing while it still sends would reset the connection."""
        if self._half_closed or not (self._lingers or self._received or self._body is not None):
            self._transport.close()
            return
        self._transport.write_eof()
        self._enter(_CLOSING)
        self._discard()
        self._bound_received()

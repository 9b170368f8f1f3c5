"""A client's connection: what HTTP parsing refuses, and what the client takes too long for."""

import logging
from typing import Any, Final

from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod

from service.errors import HeaderFieldsTooLarge, InternalServerError, RequestError
from service.web.app import App
from service.web.event import Event
from service.web.forwarding import UNIX
from service.web.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_FIELDS, MAX_HEAD_BYTES, MAX_LINE_BYTES, Limits
from service.web.patience import Awaited, Patience, unread
from service.web.response import Response
from service.web.seldom import Seldom
from service.web.unparsed import END_OF_HEAD, accepted, parsing_error, target

# What the parser refuses wherever it stands in a head.
_NO_HEAD: Final = b"\0\0"
# aiohttp's own timer, which runs beside the looks at connections, is not needed: an hour.
_AIOHTTP_SECONDS: Final = 3600

_log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """A client's connection; answers in our shape what HTTP parsing refuses, and logs nothing that the client wrote.

    Nobody keeps a time for each request: the server looks at its connections now and then.
    """

    __slots__ = (
        "_app",
        "_body",
        "_ended",
        "_head_bytes",
        "_holds_much",
        "_patience",
        "_received",
        "_seldom",
        "held",
    )

    def __init__(self, server: web.Server, app: App, limits: Limits, seldom: Seldom, **settings: Any) -> None:
        super().__init__(
            server,
            keepalive_timeout=_AIOHTTP_SECONDS,
            lingering_time=limits.discard_seconds,
            max_line_size=MAX_LINE_BYTES,
            max_field_size=MAX_FIELD_BYTES,
            max_headers=MAX_FIELDS,
            auto_decompress=False,
            **settings,
        )
        self._app, self._seldom = app, seldom
        self._received = b""
        self.held, self._holds_much = b"", False
        self._head_bytes = 0
        self._ended = False
        self._body: StreamReader | None = None
        self._patience = Patience(limits, self._loop.time())

    @property
    def peername(self) -> tuple[str, int] | None:
        """The address of the client; None where it has none, whatever it calls itself."""
        told = None if self.transport is None else self.transport.get_extra_info("peername")
        return told if isinstance(told, tuple) else None

    def data_received(self, data: bytes) -> None:
        """Parse what came, one head at a time: one request waits behind the one that is answered, the rest in bytes.

        So requests before a malformed one are answered, and who sends many and reads nothing costs little memory.
        """
        if not data:  # aiohttp lets its parser go on
            super().data_received(data)
        elif self._is_one_head(data):  # as nearly all that comes is
            self._received = data
            web.RequestHandler.data_received(self, data)
        elif self.held or self._is_full():
            self._hold(self.held + data)
        elif data.find(END_OF_HEAD, 0, -1) < 0:
            self._parse(data)
        else:
            self._hold(data)
            self.go_on()

    def _is_one_head(self, data: bytes) -> bool:
        """Return whether a whole head came, and nothing else, where one was awaited."""
        if self._messages or self.held or self._head_bytes or self._body is not None or len(data) > MAX_HEAD_BYTES:
            return False
        return data.find(END_OF_HEAD) == len(data) - len(END_OF_HEAD)

    def go_on(self) -> None:
        """Parse what is held, up to the next head."""
        while self.held and not self._is_full():
            head, end, rest = self.held.partition(END_OF_HEAD)
            self._hold(rest)
            self._parse(head + end)
            if self._failed():
                self._hold(b"")

    def eof_received(self) -> bool:  # type: ignore[override] # asyncio reads it, aiohttp has no use for it
        """Keep the connection until what was asked is answered, where the client only says that it asks no more."""
        self._ended = True
        return self._waiter is None or bool(self._messages)

    def is_left_alone(self) -> bool:
        """Return whether nobody asks here any more, or answers: the client ended its side, or a fault ended ours."""
        idle = self._waiter is not None and not self._messages
        return (self._ended and idle) or (self._task_handler is not None and self._task_handler.done())

    def _hold(self, data: bytes) -> None:
        """Hold what came back; where that is much, read no more until it is less."""
        self.held = data
        much = len(data) > MAX_HEAD_BYTES
        if much != self._holds_much and self.transport is not None:
            self._holds_much = much
            (self._pause_reading_for_buffer if much else self._resume_reading_for_buffer)()

    def _resume_reading_if_drained(self) -> None:
        """Do nothing: no more than one request waits, and reading goes on where less is held."""

    def _is_full(self) -> bool:
        """Return whether a request waits, all of it."""
        return bool(self._messages) and self._messages[-1][1].is_eof()

    def _parse(self, data: bytes) -> None:
        """Parse a part of a request that holds no more than one head; it is kept, to look at if it is refused."""
        self._received = data
        if self._body is None and (not self._messages or self._is_full()):  # else it is part of a body
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                data = _NO_HEAD
            elif data.endswith(END_OF_HEAD):
                self._head_bytes = 0
        super().data_received(data)
        if self._body is not None or len(self._messages) > 1:
            self._check_bodies()

    def begin_body(self, body: StreamReader) -> None:
        """Watch the body of the request that is being answered."""
        self._body = body
        body.on_eof(self._end_body)

    def awaits_too_long(self, now: float, transport: Any) -> Event | None:
        """Return what the client has been waited for beyond the limit, at the loop's time `now`, if anything."""
        return self._patience.exceeded(now, self._what_is_awaited(transport))

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - it quotes the request
    ) -> Response:
        """Answer an error of parsing, or of aiohttp itself."""
        accept = accepted(self._received)
        too_large = self._head_bytes > MAX_HEAD_BYTES
        if not too_large and isinstance(exc, BadHttpMethod) and (asked := target(self._received)) is not None:
            return self._app.unknown_method(asked, accept, request.remote)
        if status < InternalServerError.status:
            error = HeaderFieldsTooLarge() if too_large else parsing_error(exc)
            self._tell(error, request.remote or UNIX)
        else:
            error = InternalServerError()
            _log.error("a connection failed", exc_info=exc)
        return self._app.malformed(error, accept, request.remote)

    def _tell(self, error: RequestError, client: str) -> None:
        untold = self._seldom.untold(self._loop.time())
        if untold is not None:
            more = f" ({untold:,} more since the last line)" if untold else ""
            _log.warning("refused a malformed request from %s: %s%s", client, type(error).meaning, more)

    def _failed(self) -> bool:
        """Return whether parsing failed: then an error waits in the place of a request."""
        return bool(self._messages) and not isinstance(self._messages[-1][0], RawRequestMessage)

    def _check_bodies(self) -> None:
        """Refuse a request whose body is malformed; end one that is being answered, and whose body is too long."""
        if len(self._messages) > 1 and not self._messages[-2][1].is_eof():
            del self._messages[-2]  # only an error comes behind a body that is not at its end
        body = self._body
        if body is not None and (self._failed() or body.total_bytes > MAX_BODY_BYTES):
            self.force_close()

    def _end_body(self) -> None:
        self._body = None
        self._received = b""  # so that the end of a body is not taken for the begin of a head

    def _what_is_awaited(self, transport: Any) -> Awaited:
        if unsent := transport.get_write_buffer_size():
            return Event.WRITE_TIMEOUT, unsent + unread(transport)
        if self._waiter is None:
            return None, 0
        count = self._request_count
        received = self._received
        begun = not count or (received and not received.endswith(END_OF_HEAD))
        head = Event.HEAD_TIMEOUT, count  # of which line ends in front of it are a part
        return head if begun or self._patience.awaited == head else (Event.IDLE_TIMEOUT, count)

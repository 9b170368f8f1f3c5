"""A client's connection: what HTTP parsing refuses, and what the client takes too long for."""

import logging
import re
from collections.abc import Iterator
from fcntl import ioctl
from struct import unpack
from termios import TIOCOUTQ
from typing import Any, Final, TypeAlias

from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError, LineTooLong

from service.errors import BadRequest, HeaderFieldsTooLarge, InternalServerError, RequestError, URITooLong
from service.web.app import App
from service.web.event import Event
from service.web.forwarding import UNIX
from service.web.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE_BYTES, Limits
from service.web.response import Response
from service.web.seldom import Seldom

# A request line that is in order but for a method that the parser does not know: a token, which may be any.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_END_OF_HEAD: Final = b"\r\n\r\n"
# In so many pieces what came at once is parsed: as many requests as aiohttp lets wait.
_MOST_PIECES: Final = 32
# aiohttp's own timer, which runs beside the looks at connections, is not needed: an hour.
_AIOHTTP_SECONDS: Final = 3600

# What a client is waited for, as the event if it takes too long, and how far it got: as long as both stay the same,
# its time runs.
Awaited: TypeAlias = tuple[Event | None, int]
_log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """A client's connection; answers in our shape what HTTP parsing refuses, and logs nothing that the client wrote.

    Nobody keeps a time for each request: the server looks at its connections now and then.
    """

    __slots__ = ("_app", "_awaited", "_body", "_limits", "_received", "_seldom", "_since")

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
        self._app, self._limits, self._seldom = app, limits, seldom
        self._received = b""
        self._body: StreamReader | None = None
        self._awaited: Awaited = (Event.HEAD_TIMEOUT, 0)
        self._since = self._loop.time()

    def data_received(self, data: bytes) -> None:
        """Parse what came; it is kept until more comes, to look at if it is refused.

        Requests that came at once are parsed one by one, so that those before a malformed one are answered.
        """
        if data.find(_END_OF_HEAD, 0, -1) < 0:
            self._received = data or self._received
            super().data_received(data)
        else:
            for piece in _pieces(data):
                self._received = piece
                super().data_received(piece)
                if self._failed():
                    break
        if self._body is not None or len(self._messages) > 1:
            self._check_bodies()

    def begin_body(self, body: StreamReader) -> None:
        """Watch the body of the request that is being answered."""
        self._body = body
        body.on_eof(self._end_body)

    def awaits_too_long(self, now: float, transport: Any) -> Event | None:
        """Return what the client has been waited for beyond the limit, at the loop's time `now`, if anything."""
        awaited = self._what_is_awaited(transport)
        if awaited != self._awaited:
            self._awaited, self._since = awaited, now
            return None
        event, waited = awaited[0], now - self._since
        return None if event is None or waited < self._allowed(event) else event

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - it quotes the request
    ) -> Response:
        """Answer an error of parsing, or of aiohttp itself."""
        accept = _accepted(self._received)
        if isinstance(exc, BadHttpMethod) and (line := _REQUEST_LINE.match(self._received)):
            return self._app.unknown_method(line[1].decode(), accept, request.remote)
        if status < InternalServerError.status:
            error = parsing_error(exc)
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
            return Event.WRITE_TIMEOUT, unsent + _unread(transport)
        if self._waiter is None:
            return None, 0
        count = self._request_count
        received = self._received
        begun = not count or (received and not received.endswith(_END_OF_HEAD))
        head = Event.HEAD_TIMEOUT, count  # of which line ends in front of it are a part
        return head if begun or self._awaited == head else (Event.IDLE_TIMEOUT, count)

    def _allowed(self, event: Event) -> float:
        limits = self._limits
        if event is Event.HEAD_TIMEOUT:
            return limits.head_seconds
        return limits.idle_seconds if event is Event.IDLE_TIMEOUT else limits.write_seconds


def parsing_error(exc: BaseException | None) -> RequestError:
    """Return our error for one of aiohttp's parser."""
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    if isinstance(exc, HttpProcessingError) and exc.message.startswith("Too many headers"):
        return HeaderFieldsTooLarge()
    return BadRequest()


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield what came, cut behind the ends of heads."""
    *heads, rest = data.split(_END_OF_HEAD, _MOST_PIECES)
    for head in heads:
        yield head + _END_OF_HEAD
    if rest:
        yield rest


def _unread(transport: Any) -> int:
    """Return how much the system holds that the client has not taken: a slow client gets on even where we do not."""
    file = transport.get_extra_info("socket").fileno()
    told: int = unpack("i", ioctl(file, TIOCOUTQ, bytes(4)))[0] if file >= 0 else 0
    return told


def _accepted(received: bytes) -> list[str]:
    """Return the Accept fields of a request that was refused, as far as it was received, and nothing else was."""
    head, end, more = received.partition(_END_OF_HEAD)
    return [] if end in more else [field.decode("latin-1") for field in _ACCEPT.findall(head)]

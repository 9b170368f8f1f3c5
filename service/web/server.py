"""The listening side of HTTP: limits of what is read, and the answer to what is no request."""

import asyncio
import logging
import re
from typing import Any, Final

from aiohttp import HttpVersion10, HttpVersion11, StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError, LineTooLong

from service.errors import BadRequest, HeaderFieldsTooLarge, InternalServerError, RequestError, URITooLong
from service.web.app import App, UnsupportedVersion
from service.web.forwarding import UNIX
from service.web.response import Response

KEEP_ALIVE_SECONDS: Final = 75
DISCARD_SECONDS: Final = 5
MAX_FIELD_BYTES: Final = 8190
MAX_FIELDS: Final = 100
# Another number than that for a header field: the parser's error tells which limit was passed by its value alone.
MAX_LINE_BYTES: Final = 8192

# A request line that is in order but for a method that the parser does not know: a token, which may be any.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_END_OF_HEAD: Final = b"\r\n\r\n"
# What aiohttp puts in the place of a request that it could not parse.
_UNPARSED: Final = "UNKNOWN"
_VERSIONS: Final = (HttpVersion11, HttpVersion10)
_log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """A client's connection; answers in our shape what HTTP parsing refuses, and logs nothing that the client wrote."""

    __slots__ = ("_app", "_received")

    def __init__(self, server: "Server", app: App, **limits: Any) -> None:
        super().__init__(server, **limits)
        self._app = app
        self._received = b""

    def data_received(self, data: bytes) -> None:
        """Parse what came; it is kept until more comes, to look at if it is refused."""
        self._received = data
        super().data_received(data)

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
            _log.warning("refused a malformed request from %s: %s", request.remote or UNIX, type(error).meaning)
        else:
            error = InternalServerError()
            _log.error("a connection failed", exc_info=exc)
        return self._app.malformed(error, accept, request.remote)


def _accepted(received: bytes) -> list[str]:
    """Return the Accept fields of a request that was refused, as far as it was received, and nothing else was."""
    head, end, more = received.partition(_END_OF_HEAD)
    return [] if end in more else [field.decode("latin-1") for field in _ACCEPT.findall(head)]


def parsing_error(exc: BaseException | None) -> RequestError:
    """Return our error for one of aiohttp's parser."""
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    if isinstance(exc, HttpProcessingError) and exc.message.startswith("Too many headers"):
        return HeaderFieldsTooLarge()
    return BadRequest()


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop = task.get_loop()
    if message.version is HttpVersion11:  # as nearly all are; what could not be parsed has the other
        return web.BaseRequest(message, payload, protocol, writer, task, loop)
    if message.method == _UNPARSED:
        message = message._replace(version=HttpVersion11)
    if message.version in _VERSIONS:
        return web.BaseRequest(message, payload, protocol, writer, task, loop)
    # aiohttp answers in the version of the request; RFC 9110 section 2.5 asks for the highest that is ours.
    return UnsupportedVersion(message._replace(version=HttpVersion11), payload, protocol, writer, task, loop)


class Server(web.Server):
    """An aiohttp server with our limits. Nothing is decompressed: nobody reads the bodies."""

    def __init__(self, app: App) -> None:
        super().__init__(app, request_factory=_request)
        self._app = app

    def __call__(self) -> Connection:
        """Return the protocol of a new connection."""
        return Connection(
            self,
            self._app,
            loop=asyncio.get_running_loop(),
            access_log=None,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            lingering_time=DISCARD_SECONDS,
            max_line_size=MAX_LINE_BYTES,
            max_field_size=MAX_FIELD_BYTES,
            max_headers=MAX_FIELDS,
            auto_decompress=False,
        )


def runner(app: App, *, shutdown_seconds: float = 5) -> web.ServerRunner:
    """Return aiohttp's runner of the service; `shutdown_seconds` is what open requests get to end."""
    return web.ServerRunner(Server(app), shutdown_timeout=shutdown_seconds)

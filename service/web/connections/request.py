"""Requests, as the application sees them."""

import re
from typing import Final

import msgspec
from aiohttp import HttpVersion, HttpVersion10, HttpVersion11, hdrs
from yarl import URL

from service.model.errors import BadRequest, ContentTooLarge, RequestError
from service.web.connections.aiohttp_names import RawRequestMessage
from service.web.connections.body import Body, ChunkedBody, SizedBody
from service.web.connections.limits import MAX_BODY_BYTES, MAX_HOST_CHARACTERS
from service.web.headers.request_fields import RequestFields

# A path and a query as every parser reads them. Everything else is for aiohttp's parser.
_LINE: Final = re.compile(rb"(GET|HEAD) (/(?![/])[!$-.0-;=@-Z_a-z~%/]*+)(?:\?([!$-;=?@-Z_a-z~%]*+))? HTTP/1\.1")
_LINE_END: Final = b"\r\n"
# Longer lines and fields are rare.
_MAX_LINE_BYTES: Final = 2048
_MAX_FIELD_BYTES: Final = 2048
_METHODS: Final = {each.encode(): each for each in (hdrs.METH_GET, hdrs.METH_HEAD)}


class Request(msgspec.Struct, frozen=True):
    """A request.

    path, query  of the target, as the client wrote them
    version      1.0 or 1.1, else `error` is set
    remote       the address of the client; None on a Unix socket
    keep_alive   whether the connection may stay open after the response
    error        an error in the framing or the version, if any: the connection closes after the response
    """

    method: str
    path: str
    query: str
    version: HttpVersion
    fields: RequestFields
    remote: str | None
    keep_alive: bool = True
    error: RequestError | None = None


def read_request(message: RawRequestMessage, received: bytearray, remote: str | None) -> tuple[Request, Body | None]:
    """Return the request of a parsed head, and its body if more of it is to come.

    Removes the received part of the body from `received`, which begins after the head.
    """
    headers, version, url = message.headers, message.version, message.url
    keep_alive = not (message.should_close or message.upgrade)  # an upgrade is declined; what follows may not be HTTP
    body, error = None, None
    try:
        if url.absolute and not _has_valid_host(url):
            raise BadRequest
        body = _body(message)
        if body is not None:
            keep_alive = keep_alive and hdrs.EXPECT not in headers  # the body may come now, or never
            body.skip(received)
    except RequestError as exc:
        body, error = None, exc.with_traceback(None)  # which would make a cycle with this frame
        if version != HttpVersion10:  # RFC 9110 section 2.5: the highest version that the server speaks
            version = HttpVersion11
    request = Request(
        method=message.method,
        path=url.raw_path,
        query=url.raw_query_string,
        version=version,
        fields=RequestFields(headers),
        remote=remote,
        keep_alive=keep_alive,
        error=error,
    )
    return request, None if body is None or body.ended else body


def _has_valid_host(url: URL) -> bool:
    """Return whether the host of a target is valid, unlike `xn--`, and not too long."""
    if len(url.raw_host or "") > MAX_HOST_CHARACTERS:  # decoding it takes quadratic time
        return False
    try:
        _ = url.host
    except ValueError:
        return False
    return True


def _body(message: RawRequestMessage) -> Body | None:
    """Return the body that the header fields announce (RFC 9112 section 6.3).

    Raises `ContentTooLarge`. Raises `BadRequest` for a version other than 1.0 and 1.1, and for any transfer coding but
    chunked, alone and in HTTP/1.1: another server may see another end of such a request (request smuggling).
    """
    headers, version = message.headers, message.version
    if version is not HttpVersion11 and version != HttpVersion10:
        raise BadRequest
    if hdrs.TRANSFER_ENCODING in headers:
        alone = [coding.lower() for coding in headers.getall(hdrs.TRANSFER_ENCODING)] == ["chunked"]
        if not (message.chunked and alone) or version != HttpVersion11:
            raise BadRequest
        return ChunkedBody()
    if hdrs.CONTENT_LENGTH not in headers:
        return None
    length = headers[hdrs.CONTENT_LENGTH]
    if not (length.isascii() and length.isdigit()):
        raise BadRequest
    significant = length.lstrip("0")[: len(str(MAX_BODY_BYTES)) + 1]  # int() limits the number of digits
    if int(significant or 0) > MAX_BODY_BYTES:
        raise ContentTooLarge
    return SizedBody(int(significant or 0))


class RepeatedFields:
    """The header fields of the last request on a connection, if another may have the same.

    Most clients send the same fields in every request on a connection. Then only the first line is parsed: what the
    parser made of the fields is still true, as it depends on these bytes alone.
    """

    __slots__ = ("_block", "_last")

    def __init__(self) -> None:
        self._block = b""
        self._last: Request | None = None

    def remember(self, head: bytes, request: Request) -> None:
        """Remember the fields in the bytes of a head, if the request has no body and leaves the connection open."""
        start, fields = head.find(_LINE_END), request.fields.all
        repeatable = request.keep_alive and request.error is None and request.version is HttpVersion11
        framed = hdrs.CONTENT_LENGTH in fields or hdrs.TRANSFER_ENCODING in fields
        fits = start >= 0 and len(head) - start <= _MAX_FIELD_BYTES
        self._block, self._last = (head[start:], request) if repeatable and fits and not framed else (b"", None)

    def read(self, received: bytearray) -> Request | None:
        """Return the request at the start of the received bytes, and remove it; None if it is not such a one."""
        last = self._last
        if last is None:
            return None
        end = received.find(_LINE_END, 0, _MAX_LINE_BYTES)
        if end < 0 or not received.startswith(self._block, end):
            return None
        line = _LINE.fullmatch(received, 0, end)
        if line is None:
            return None
        method, path, query = line.groups(b"")
        del received[: end + len(self._block)]
        return Request(_METHODS[method], path.decode(), query.decode(), HttpVersion11, last.fields, last.remote)

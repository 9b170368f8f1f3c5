"""The framing of requests: parsed heads become requests, whose bodies are skipped."""

import re
from typing import Final, Literal, TypeAlias

from aiohttp import HttpVersion10, HttpVersion11, hdrs
from yarl import URL

from service.model.errors import BadRequest, ContentTooLarge, RequestError
from service.web.connections.heads import RawRequestMessage
from service.web.connections.limits import MAX_BODY_BYTES, MAX_BODY_LINE_BYTES, MAX_BODY_PARTS, MAX_HOST_CHARACTERS
from service.web.http.request import Request, RequestFields

_LINE_END: Final = b"\r\n"
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED: Final = rb'"[\t !#-\[\]-~\x80-\xff]*+(?:\\[\t -~\x80-\xff][\t !#-\[\]-~\x80-\xff]*+)*+"'
# A size and extensions, without the white space around them that the RFC calls "bad": not all programs accept it.
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]++)(?:;%b(?:=(?:%b|%b))?)*" % (_TOKEN, _TOKEN, _QUOTED))
# A trailer field; those that frame a message are forbidden there (RFC 9110 section 6.5.1).
_TRAILER: Final = re.compile(rb"(?!(?:content-length|transfer-encoding):)%b:[\t -~\x80-\xff]*" % _TOKEN, re.IGNORECASE)


class SizedBody:
    """A body whose length is known."""

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def ended(self) -> bool:
        """Whether all of it is skipped."""
        return not self._left

    def skip(self, received: bytearray) -> None:
        """Remove the received part of the body."""
        count = min(self._left, len(received))
        self._left -= count
        del received[:count]


class ChunkedBody:
    """A body in chunks: a size, data, a size, data, ..., size 0, trailer fields, an empty line."""

    def __init__(self) -> None:
        self.ended = False
        self._next: Literal["size", "data", "trailer"] = "size"
        self._left = 0  # bytes of a chunk's data still to come
        self._scanned = 0  # bytes of an incomplete line
        self._parts = 0  # chunks and trailer fields
        self._bytes = self._line_bytes = 0

    def skip(self, received: bytearray) -> None:
        """Remove the received part of the body. Raises `BadRequest`, `ContentTooLarge`."""
        start, moved = 0, True
        while moved and not self.ended:
            end = (self._skip_data if self._next == "data" else self._skip_line)(received, start)
            start, moved = end, end > start
            if self._bytes + start + self._left > MAX_BODY_BYTES or self._parts > MAX_BODY_PARTS:
                raise ContentTooLarge
        self._bytes += start
        del received[:start]

    def _skip_data(self, received: bytearray, start: int) -> int:
        """Return the end of the received part of a chunk's data and of the line end after it."""
        count = min(self._left, len(received) - start)
        start, self._left = start + count, self._left - count
        end = start + len(_LINE_END)
        if self._left or len(received) < end:
            return start
        if received[start:end] != _LINE_END:
            raise BadRequest
        self._next = "size"
        return end

    def _skip_line(self, received: bytearray, start: int) -> int:
        """Parse a line and return its end; return its start if it is incomplete."""
        line_end = received.find(_LINE_END, start + self._scanned)
        end = len(received) if line_end < 0 else line_end + len(_LINE_END)
        if self._line_bytes + end - start > MAX_BODY_LINE_BYTES:
            raise ContentTooLarge
        if line_end < 0:
            self._scanned = max(0, end - start - 1)  # the last byte may be the first of a line end
            return start
        self._read(bytes(received[start:line_end]))
        self._line_bytes, self._scanned = self._line_bytes + end - start, 0
        return end

    def _read(self, line: bytes) -> None:
        if self._next == "size":
            size = _SIZE.fullmatch(line)
            if size is None:
                raise BadRequest
            self._left = int(size[1], 16)
            self._next = "data" if self._left else "trailer"
            self._parts += self._left > 0
        elif not line:
            self.ended = True
        elif _TRAILER.fullmatch(line) is None:
            raise BadRequest
        else:
            self._parts += 1


# A body that is skipped.
RequestBody: TypeAlias = SizedBody | ChunkedBody


def read_request(
    message: RawRequestMessage, received: bytearray, remote: str | None, method: str | None = None
) -> tuple[Request, RequestBody | None]:
    """Return the request of a parsed head, and its body if more of it is to come.

    Removes the received part of the body from `received`, which begins after the head. `method` is that of the head, if
    the parser has read another.
    """
    headers, version, url, method = message.headers, message.version, message.url, method or message.method
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
        line=_line(method, message),
        method=method,
        path=url.raw_path,
        query=url.raw_query_string,
        version=version,
        fields=RequestFields(headers),
        remote=remote,
        keep_alive=keep_alive,
        error=error,
    )
    return request, None if body is None or body.ended else body


def _line(method: str, message: RawRequestMessage) -> bytes:
    version = message.version
    line = f"{method} {message.path} HTTP/{version.major}.{version.minor}"
    return line.encode("utf-8", "surrogateescape")


def _has_valid_host(url: URL) -> bool:
    """Return whether the host of a target is valid, unlike `xn--`, and not too long."""
    if len(url.raw_host or "") > MAX_HOST_CHARACTERS:  # decoding it takes quadratic time
        return False
    try:
        _ = url.host
    except ValueError:
        return False
    return True


def _body(message: RawRequestMessage) -> RequestBody | None:
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

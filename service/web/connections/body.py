"""Bodies of requests. No operation reads one, so each is skipped (RFC 9112 sections 6 and 7.1)."""

import re
from enum import Enum, auto
from typing import Final, Protocol

from service.model.errors import BadRequest, ContentTooLarge
from service.web.connections.limits import MAX_BODY_BYTES, MAX_BODY_LINES, MAX_LINE_BYTES

_LINE_END: Final = b"\r\n"
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED: Final = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
# A size and extensions, without the white space around them that the RFC calls "bad": not all programs accept it.
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]++)(?:;%b(?:=(?:%b|%b))?)*" % (_TOKEN, _TOKEN, _QUOTED))
# A trailer field; those that frame a message are forbidden there (RFC 9110 section 6.5.1).
_TRAILER: Final = re.compile(rb"(?!(?:content-length|transfer-encoding):)%b:[\t -~\x80-\xff]*" % _TOKEN, re.IGNORECASE)


class Body(Protocol):
    """A body that is skipped."""

    @property
    def ended(self) -> bool:
        """Whether all of it is skipped."""

    def skip(self, received: bytearray) -> None:
        """Remove the received part of the body from the start of `received`.

        Raises `BadRequest` if it is malformed and `ContentTooLarge` if it is too large; do not use it afterwards.
        """


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


class _Line(Enum):
    """What the next line of a chunked body is."""

    SIZE = auto()
    END_OF_CHUNK = auto()
    TRAILER = auto()


class ChunkedBody:
    """A body in chunks: a size, data, a size, data, ..., size 0, trailer fields, an empty line."""

    def __init__(self) -> None:
        self.ended = False
        self._next = _Line.SIZE
        self._left = 0  # bytes of a chunk's data still to come
        self._scanned = 0  # bytes of an incomplete line
        self._lines = self._bytes = 0

    def skip(self, received: bytearray) -> None:
        """Remove the received part of the body. Raises `BadRequest`, `ContentTooLarge`."""
        start = 0
        while not self.ended:
            count = min(self._left, len(received) - start)
            start, self._left = start + count, self._left - count
            if self._left:
                break
            end = received.find(_LINE_END, start + self._scanned)
            if end < 0:
                self._scanned = max(0, len(received) - start - 1)  # the last byte may be the first of a line end
                break
            self._read(bytes(received[start:end]))
            start, self._scanned = end + len(_LINE_END), 0
        self._bytes += start
        if self._bytes + self._left > MAX_BODY_BYTES or self._lines > MAX_BODY_LINES:
            raise ContentTooLarge
        del received[:start]
        if not self.ended and not self._left and len(received) > MAX_LINE_BYTES:
            raise BadRequest

    def _read(self, line: bytes) -> None:
        self._lines += 1
        if self._next is _Line.SIZE:
            size = _SIZE.fullmatch(line)
            if size is None:
                raise BadRequest
            self._left = int(size[1], 16)
            self._next = _Line.END_OF_CHUNK if self._left else _Line.TRAILER
        elif self._next is _Line.END_OF_CHUNK:
            if line:
                raise BadRequest
            self._next = _Line.SIZE
        elif not line:
            self.ended = True
        elif _TRAILER.fullmatch(line) is None:
            raise BadRequest

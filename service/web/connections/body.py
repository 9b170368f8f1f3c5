"""Bodies of requests. No operation reads one, so each is skipped (RFC 9112 sections 6 and 7.1)."""

import re
from enum import Enum, auto
from typing import Final, Protocol

from service.model.errors import BadRequest, ContentTooLarge
from service.web.connections.limits import MAX_BODY_BYTES, MAX_BODY_LINE_BYTES, MAX_BODY_PARTS

_LINE_END: Final = b"\r\n"
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED: Final = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
# A size and extensions, without the white space around them that the RFC calls "bad": not all programs accept it.
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]++)(?:;%b(?:=(?:%b|%b))?)*" % (_TOKEN, _TOKEN, _QUOTED))
# A trailer field; those that frame a message are forbidden there (RFC 9110 section 6.5.1).
_TRAILER: Final = re.compile(rb"(?!(?:content-length|transfer-encoding):)%b:[\t -~\x80-\xff]*" % _TOKEN, re.IGNORECASE)


class RequestBody(Protocol):
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


class _Next(Enum):
    """The parser states of a chunked body: what comes next."""

    SIZE = auto()
    DATA = auto()
    TRAILER = auto()


class ChunkedBody:
    """A body in chunks: a size, data, a size, data, ..., size 0, trailer fields, an empty line."""

    def __init__(self) -> None:
        self.ended = False
        self._next = _Next.SIZE
        self._left = 0  # bytes of a chunk's data still to come
        self._scanned = 0  # bytes of an incomplete line
        self._parts = 0  # chunks and trailer fields
        self._bytes = self._line_bytes = 0

    def skip(self, received: bytearray) -> None:
        """Remove the received part of the body. Raises `BadRequest`, `ContentTooLarge`."""
        start, moved = 0, True
        while moved and not self.ended:
            end = (self._skip_data if self._next is _Next.DATA else self._skip_line)(received, start)
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
        self._next = _Next.SIZE
        return end

    def _skip_line(self, received: bytearray, start: int) -> int:
        """Parse a line and return its end; return its start if it is incomplete."""
        found = received.find(_LINE_END, start + self._scanned)
        end = len(received) if found < 0 else found + len(_LINE_END)
        if self._line_bytes + end - start > MAX_BODY_LINE_BYTES:
            raise ContentTooLarge
        if found < 0:
            self._scanned = max(0, end - start - 1)  # the last byte may be the first of a line end
            return start
        self._read(bytes(received[start:found]))
        self._line_bytes, self._scanned = self._line_bytes + end - start, 0
        return end

    def _read(self, line: bytes) -> None:
        if self._next is _Next.SIZE:
            size = _SIZE.fullmatch(line)
            if size is None:
                raise BadRequest
            self._left = int(size[1], 16)
            self._next = _Next.DATA if self._left else _Next.TRAILER
            self._parts += self._left > 0
        elif not line:
            self.ended = True
        elif _TRAILER.fullmatch(line) is None:
            raise BadRequest
        else:
            self._parts += 1

"""Heads of requests: delimited in the received bytes, and parsed by aiohttp's parser."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from aiohttp.http import HttpRequestParser, RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError, LineTooLong

from service.model.errors import BadRequest, HeaderFieldsTooLarge, RequestError, URITooLong
from service.web.connections.limits import (
    MAX_FIELD_BYTES,
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    MAX_LINE_END_BYTES,
)

# Undocumented names of aiohttp, none of them private. Only this module imports them; tests say what it relies on.
__all__ = ("BadHttpMethod", "HttpProcessingError", "HttpRequestParser", "LineTooLong", "RawRequestMessage")

# A request line that is well-formed; the parser may not know its method, which may be any token.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
# The end of a request line, or a byte that no request line has.
_END_OF_LINE: Final = re.compile(rb"[^ -~\r]")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class RejectedHead(msgspec.Struct, frozen=True):
    """A rejected head.

    error   the error to respond with
    accept  its Accept fields, as far as they were received, if the response depends on them
    target  the target of a request that is rejected only for its method
    """

    error: RequestError
    accept: list[str]
    target: str | None = None


def reject(error: RequestError, head: bytes, target: str | None = None) -> RejectedHead:
    """Reject a head, or the received part of one."""
    accept = _ACCEPT.findall(head) if error.may_be_problem or target is not None else ()
    return RejectedHead(error, [field.decode("latin-1") for field in accept], target)


class ParserRejection:
    """A head that the parser rejected, until everything that the response depends on is received.

    So the response does not depend on how the head is split into packets.
    """

    def __init__(self, exc: HttpProcessingError) -> None:
        """Keep no reference to the exception: its traceback would make a cycle for the garbage collector."""
        self._error = _error(exc)
        self._of_method = isinstance(exc, BadHttpMethod)
        self._is_request = self._error.may_be_problem
        self._scanned = 0

    def is_final(self, head: bytearray) -> bool:
        """Return whether the response depends on no further bytes, neither of the target nor of Accept fields."""
        if self._of_method and not self._is_request:
            line_end = _END_OF_LINE.search(head, self._scanned)
            self._scanned = len(head)
            if line_end is None:
                return len(head) >= MAX_LINE_BYTES
            self._is_request = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) is not None
        return not self._is_request

    def reject(self, head: bytes) -> RejectedHead:
        """Reject the received part of the head."""
        line = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) if self._of_method else None
        return reject(self._error, head, None if line is None else line[1].decode())


def _error(exc: HttpProcessingError) -> RequestError:
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    return HeaderFieldsTooLarge() if exc.message.startswith("Too many headers") else BadRequest()


_END: Final = b"\r\n\r\n"
_LINE_ENDS: Final = (b"\r", b"\n")
# Memory of an incomplete head at most: its bytes here and in the parser, and as text, which has up to 4 bytes for each;
# objects of the parser for each line.
_HELD_PER_BYTE: Final = 6
_HELD_PER_LINE: Final = 200
# The parser keeps the last head. It is discarded after a larger one.
_KEPT_BYTES: Final = 1024
_KEPT_FIELDS: Final = 32


class HeadReader:
    """Reads the heads of one connection.

    The parser gets each byte of a head once and never sees a body or a second head. So requests before a malformed one
    are answered, and no byte is scanned twice.
    """

    __slots__ = ("_parser", "_rejection", "held", "last", "line_end_bytes", "parsed")

    def __init__(self) -> None:
        self._parser: HttpRequestParser | None = None
        self.line_end_bytes = 0  # before the next head
        self.parsed = 0  # bytes of an incomplete head
        self.held = 0  # bytes of memory for it, with the received ones
        self._rejection: ParserRejection | None = None
        self.last = b""  # the last head, unless it came in several packets

    def read(self, received: bytearray, *, ended: bool) -> RawRequestMessage | RejectedHead | None:
        """Read the head at the start of the received bytes; return None if it is incomplete and input has not `ended`.

        Removes the head, and line ends in front of it. After a rejected head there is no other.
        """
        if not self.parsed and received.startswith(_LINE_ENDS) and not self._skip_line_ends(received):
            return reject(BadRequest(), b"")
        head_end = received.find(_END, max(0, self.parsed - len(_END) + 1))
        end = len(received) if head_end < 0 else head_end + len(_END)
        too_large, end = end > MAX_HEAD_BYTES, min(end, MAX_HEAD_BYTES)
        new = bytes(received[self.parsed : end])
        self.last = b"" if self.parsed or head_end < 0 else new
        messages = self._parse(new)
        self.parsed = end
        self.held += _HELD_PER_BYTE * len(new) + _HELD_PER_LINE * new.count(b"\n")
        if self._rejection is not None:
            final = head_end >= 0 or too_large or ended or self._rejection.is_final(received)
            return self._rejection.reject(bytes(received[:end])) if final else None
        if too_large:
            return reject(HeaderFieldsTooLarge(), bytes(received[:end]))
        if head_end < 0 and not messages:
            return None
        # The parser disagrees about where the head ends, or accepts `CONNECT ` without a target.
        if head_end < 0 or len(messages) != 1 or messages[0][0].url is None:
            return reject(BadRequest(), b"")
        del received[:end]
        self.parsed = self.held = self.line_end_bytes = 0
        message = messages[0][0]
        if end > _KEPT_BYTES or len(message.headers) > _KEPT_FIELDS:
            self._parser = None
        return message

    def _skip_line_ends(self, received: bytearray) -> bool:
        """Remove line ends in front of a head; return whether their number is within the limit."""
        start = received[: MAX_LINE_END_BYTES + 1]
        count = len(start) - len(start.lstrip(b"\r\n"))
        del received[:count]
        self.line_end_bytes += count
        return self.line_end_bytes <= MAX_LINE_END_BYTES

    def _parse(self, new: bytes) -> Sequence[tuple[RawRequestMessage, object]]:
        """Feed the parser the next bytes of a head, unless it has rejected earlier ones."""
        if self._rejection is not None:
            return ()
        if self._parser is None:
            self._parser = _parser()
        try:
            messages, *_ = self._parser.feed_data(new)
        except HttpProcessingError as error:
            self._rejection = ParserRejection(error)
            return ()
        return messages


def _parser() -> HttpRequestParser:
    return HttpRequestParser(
        None,
        None,
        0,
        max_line_size=MAX_LINE_BYTES,
        max_field_size=MAX_FIELD_BYTES,
        max_headers=MAX_FIELDS,
        response_with_body=False,
    )

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

# A method may be any token (RFC 9110 section 9.1). The parser knows some; in place of another it reads this one.
_METHOD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}+)( ?)")
_KNOWN_METHOD: Final = b"PATCH "
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class RejectedHead(msgspec.Struct, frozen=True):
    """A rejected head: the error to respond with, and its Accept fields, if the response depends on them."""

    error: RequestError
    accept: list[str]


def reject(error: RequestError, head: bytes) -> RejectedHead:
    """Reject a head, or the received part of one."""
    accept = _ACCEPT.findall(head) if error.may_be_problem else ()
    return RejectedHead(error, [field.decode("latin-1") for field in accept])


def _error(exc: HttpProcessingError) -> RequestError:
    """Return the error without a reference to the exception: its traceback would make a cycle."""
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

    __slots__ = ("_error", "_parser", "held", "last", "line_end_bytes", "method", "parsed")

    def __init__(self) -> None:
        self._parser: HttpRequestParser | None = None
        self.line_end_bytes = 0  # before the next head
        self.parsed = 0  # bytes of an incomplete head
        self.held = 0  # bytes of memory for it, with the received ones
        self._error: RequestError | None = None
        self.method: str | None = None  # of the last head, if the parser does not know it; "" until all of it is there
        self.last = b""  # the last head, unless it came in several packets

    def read(self, received: bytearray, *, ended: bool) -> RawRequestMessage | RejectedHead | None:
        """Read the head at the start of the received bytes; return None if it is incomplete and input has not `ended`.

        Removes the head, and line ends in front of it. After a rejected head there is no other.
        """
        if not self.parsed and received.startswith(_LINE_ENDS) and not self._skip_line_ends(received):
            self._error = BadRequest()
        head_end = received.find(_END, max(0, self.parsed - len(_END) + 1))
        end = len(received) if head_end < 0 else head_end + len(_END)
        too_large, end = end > MAX_HEAD_BYTES, min(end, MAX_HEAD_BYTES)
        new = bytes(received[self.parsed : end])
        self.last = b"" if self.parsed or head_end < 0 else new
        messages = self._parse(new)
        self.parsed = end
        self.held += _HELD_PER_BYTE * len(new) + _HELD_PER_LINE * new.count(b"\n")
        if self.method == "":
            return self._read_method(received, ended=ended)
        if self._error is not None:  # the response depends on the Accept fields, however the head is split into packets
            final = head_end >= 0 or too_large or ended or not self._error.may_be_problem
            return reject(self._error, bytes(received[:end])) if final else None
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

    def _read_method(self, received: bytearray, *, ended: bool) -> RawRequestMessage | RejectedHead | None:
        """Read a head whose method the parser does not know."""
        self._parser, self.parsed, self.held = None, 0, 0
        method = _METHOD.match(received)
        if method is None or not method[2]:
            if method is None or method.end() < len(received) or ended:
                return reject(BadRequest(), b"")
            self.parsed = len(received)
            return None
        self.method = method[1].decode()
        received[: method.end()] = _KNOWN_METHOD
        return self.read(received, ended=ended)

    def _parse(self, new: bytes) -> Sequence[tuple[RawRequestMessage, object]]:
        """Feed the parser the next bytes of a head, unless it has rejected earlier ones."""
        if self._error is not None or self.method == "":
            return ()
        if self._parser is None:
            self._parser = _parser()
        try:
            messages, *_ = self._parser.feed_data(new)
        except BadHttpMethod:
            self.method = ""
            return ()
        except HttpProcessingError as error:
            self._error = _error(error)
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

"""Heads of requests: found in the received bytes, and parsed by aiohttp's parser."""

from collections.abc import Sequence
from typing import Final

from service.model.errors import BadRequest, HeaderFieldsTooLarge
from service.web.connections.aiohttp_names import HttpProcessingError, HttpRequestParser, RawRequestMessage
from service.web.connections.limits import (
    MAX_FIELD_BYTES,
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    MAX_LINE_END_BYTES,
)
from service.web.connections.parse_errors import ParserRejection, RejectedHead, reject

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
        found = received.find(_END, max(0, self.parsed - len(_END) + 1))
        end = len(received) if found < 0 else found + len(_END)
        too_large, end = end > MAX_HEAD_BYTES, min(end, MAX_HEAD_BYTES)
        new = bytes(received[self.parsed : end])
        self.last = b"" if self.parsed or found < 0 else new
        messages = self._parse(new)
        self.parsed = end
        self.held += _HELD_PER_BYTE * len(new) + _HELD_PER_LINE * new.count(b"\n")
        if self._rejection is not None:
            final = found >= 0 or too_large or ended or self._rejection.is_final(received)
            return self._rejection.reject(bytes(received[:end])) if final else None
        if too_large:
            return reject(HeaderFieldsTooLarge(), bytes(received[:end]))
        if found < 0 and not messages:
            return None
        # The parser sees another end of the head, or accepts `CONNECT ` without a target.
        if found < 0 or len(messages) != 1 or messages[0][0].url is None:
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

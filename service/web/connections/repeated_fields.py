"""Requests whose header fields are those of the request before, byte for byte: only their first line is parsed.

Most clients send the same fields in every request on a connection. What the parser made of them is still true: it
depends on these bytes alone.
"""

import re
from typing import Final

from aiohttp import HttpVersion11, hdrs

from service.web.connections.request import Request

# A path and a query as every parser reads them. Everything else is for aiohttp's parser.
_LINE: Final = re.compile(rb"(GET|HEAD) (/(?![/])[!$-.0-;=@-Z_a-z~%/]*+)(?:\?([!$-;=?@-Z_a-z~%]*+))? HTTP/1\.1")
_LINE_END: Final = b"\r\n"
# Longer lines and fields are rare.
_MAX_LINE_BYTES: Final = 2048
_MAX_FIELD_BYTES: Final = 2048
_METHODS: Final = {each.encode(): each for each in (hdrs.METH_GET, hdrs.METH_HEAD)}


class RepeatedFields:
    """The header fields of the last request on a connection, if another may have the same."""

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

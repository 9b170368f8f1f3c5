"""Requests with the header fields of the request before, read without a parser."""

import re
from itertools import islice
from typing import Final

from aiohttp import HttpVersion11, hdrs

from service.web.http.request import OWN, Request, RequestFields

# A path and a query as every parser reads them. Everything else is for aiohttp's parser.
_LINE: Final = re.compile(rb"(GET|HEAD) (/(?![/])[!$-.0-;=@-Z_a-z~%/]*+)(?:\?([!$-;=?@-Z_a-z~%]*+))? HTTP/1\.1")
# The end of the line, whose version decides as much as the fields do.
_LINE_END: Final = b" HTTP/1.1\r\n"
_VERSION_LENGTH: Final = len(b" HTTP/1.1")
# The value of a field as every parser reads it: visible ASCII, with single spaces in it.
_VALUE: Final = re.compile(rb"[!-~]++(?: [!-~]++)*+")
# A field in `OWN`, up to the first odd byte of its value.
_OWN: Final = re.compile(rb"\r\n((?i:%b)): ?(%b)" % ("|".join(OWN).encode(), _VALUE.pattern))
# Longer lines and fields are rare.
_MAX_LINE_BYTES: Final = 2048
_MAX_FIELD_BYTES: Final = 2048
_METHODS: Final = {each.encode(): each for each in (hdrs.METH_GET, hdrs.METH_HEAD)}


class RepeatedFields:
    """The header fields of the last request on a connection, if another may have the same but for values in `OWN`.

    Most clients send the same fields in every request on a connection, some with a tag or an identifier that differs.
    Then only the first line and these values are read. What the parser made of all other bytes is still true: it
    depends on them alone, because no value in `OWN` means anything to the parser.

    fields   the fields, with the values of the last request
    end      where the head ends that was last found to have these fields
    _first   the version and the bytes of the fields, up to the first value in `OWN`
    _others  the bytes after each of these values, up to the next
    _names   the names of these values, as the parser returned them
    _values  these values in the last request
    """

    __slots__ = ("_first", "_names", "_others", "_values", "end", "fields")

    def __init__(self) -> None:
        self.fields: RequestFields | None = None
        self.end = 0
        self._first = b""
        self._others: list[bytes] = []
        self._names: list[str] = []
        self._values: list[bytes] = []

    def remember(self, head: bytes, request: Request) -> None:
        """Remember the fields in the bytes of a head, if the request has no body and leaves the connection open."""
        start, fields = head.find(_LINE_END), request.fields.all
        repeatable = request.keep_alive and request.error is None and request.version is HttpVersion11
        framed = hdrs.CONTENT_LENGTH in fields or hdrs.TRANSFER_ENCODING in fields
        fits = start >= 0 and len(head) - start <= _MAX_FIELD_BYTES
        self.fields = request.fields if repeatable and fits and not framed else None
        if self.fields is not None:
            self._split(head[start:], request)

    def _split(self, block: bytes, request: Request) -> None:
        """Split the bytes of fields at the values in `OWN` that are the only ones of their name, for the parser too."""
        fields, found = request.fields.all, list(islice(_OWN.finditer(block), len(OWN) + 1))
        if not 0 < len(found) <= len(OWN):  # comparing each of many with all of its name would take quadratic time
            self._first, self._others, self._names, self._values = block, [], [], []
            return
        own = [each for each in found if fields.getall(each[1].decode(), ()) == [each[2].decode()]]
        spelling = {name.lower(): name for name in fields} if own else {}
        self._names = [spelling[each[1].decode().lower()] for each in own]
        self._values = [each[2] for each in own]
        ends = [0, *(each.end() for each in own)]
        starts = [*(each.start(2) for each in own), len(block)]
        self._first, *self._others = (block[end:start] for end, start in zip(ends, starts, strict=True))

    def find(self, received: bytearray) -> bytes | None:
        """Return the line of the head at the start of the received bytes if it has the fields, which then are its own.

        The line may be anything but one that a request was read from.
        """
        if self.fields is None:
            return None
        start = received.find(_LINE_END, 0, _MAX_LINE_BYTES)
        if start < 0 or not received.startswith(self._first, start):
            return None
        end, values = start + len(self._first), []
        for text in self._others:
            value = _VALUE.match(received, end, start + _MAX_FIELD_BYTES)
            if value is None or not received.startswith(text, value.end()):
                return None
            values.append(value[0])
            end = value.end() + len(text)
        if values != self._values:
            self.fields, self._values = self.fields.replace(dict(zip(self._names, values, strict=True))), values
        self.end = end
        return bytes(received[: start + _VERSION_LENGTH])

    def read(self, line: bytes, remote: str | None) -> Request | None:
        """Return the request of a line that was found; None if a parser might read the line in another way."""
        match = _LINE.fullmatch(line)
        if match is None or self.fields is None:
            return None
        method, path, query = match.groups(b"")
        return Request(line, _METHODS[method], path.decode(), query.decode(), HttpVersion11, self.fields, remote)

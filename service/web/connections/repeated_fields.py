"""Requests that repeat the header fields of the request before, read without a parser."""

import re
from itertools import islice
from typing import Final

from aiohttp import HttpVersion11, hdrs

from service.web.http.request import VARYING, Request, RequestFields

# A path and a query as every parser reads them. Everything else is for aiohttp's parser.
_LINE: Final = re.compile(rb"(GET|HEAD) (/(?![/])[!$-.0-;=@-Z_a-z~%/]*+)(?:\?([!$-;=?@-Z_a-z~%]*+))? HTTP/1\.1")
# The end of the request line: its version matters as much as the fields do.
_LINE_END: Final = b" HTTP/1.1\r\n"
_VERSION_LENGTH: Final = len(b" HTTP/1.1")
# The value of a field as every parser reads it: visible ASCII, with single spaces in it.
_VALUE: Final = re.compile(rb"[!-~]++(?: [!-~]++)*")
# A field in `VARYING`, up to the first odd byte of its value.
_VARYING: Final = re.compile(rb"\r\n((?i:%b)): ?(%b)" % ("|".join(VARYING).encode(), _VALUE.pattern))
# Longer lines and fields are rare.
_MAX_LINE_BYTES: Final = 2048
_MAX_FIELD_BYTES: Final = 2048
_METHODS: Final = {method.encode(): method for method in (hdrs.METH_GET, hdrs.METH_HEAD)}


class RepeatedFields:
    """The header fields of the last request on a connection, if another may have the same but for values in `VARYING`.

    Most clients send the same fields in every request on a connection, some with a tag or an identifier that differs.
    Then only the first line and these values are read. What the parser made of all other bytes still holds: it
    depends on them alone, because the parser ignores the values in `VARYING`.

    fields   the fields, with the values of the last request
    end      the end of the last head that repeated these fields
    _first   the version and the bytes of the fields, up to the first value in `VARYING`
    _others  of each of these values its name, as the parser returned it, and the bytes after it, up to the next
    _values  these values in the last request, by name
    """

    __slots__ = ("_first", "_others", "_values", "end", "fields")

    def __init__(self) -> None:
        self.fields: RequestFields | None = None
        self.end = 0
        self._first = b""
        self._others: list[tuple[str, bytes]] = []
        self._values: dict[str, bytes] = {}

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
        """Split the bytes of fields at the values in `VARYING` whose fields are not repeated, also for the parser."""
        fields, hits = request.fields.all, list(islice(_VARYING.finditer(block), len(VARYING) + 1))
        if not 0 < len(hits) <= len(VARYING):  # comparing each of many with all of its name would take quadratic time
            self._first, self._others, self._values = block, [], {}
            return
        varying = [hit for hit in hits if fields.getall(hit[1].decode(), ()) == [hit[2].decode()]]
        spelling = {name.lower(): name for name in fields} if varying else {}
        self._values = {spelling[hit[1].decode().lower()]: hit[2] for hit in varying}
        ends = [0, *(hit.end() for hit in varying)]
        starts = [*(hit.start(2) for hit in varying), len(block)]
        self._first, *texts = (block[end:start] for end, start in zip(ends, starts, strict=True))
        self._others = list(zip(self._values, texts, strict=True))

    def find(self, received: bytearray) -> bytes | None:
        """Return the line of the next head if it repeats the remembered fields; `fields` then has its varying values.

        The request line is not validated here.
        """
        if self.fields is None:
            return None
        start = received.find(_LINE_END, 0, _MAX_LINE_BYTES)
        if start < 0 or not received.startswith(self._first, start):
            return None
        end = start + len(self._first)
        if self._others:
            values = {}
            for name, text in self._others:
                value = _VALUE.match(received, end, start + _MAX_FIELD_BYTES)
                if value is None or not received.startswith(text, value.end()):
                    return None
                values[name] = value[0]
                end = value.end() + len(text)
            if values != self._values:
                self.fields, self._values = self.fields.replace(values), values
        self.end = end
        return bytes(received[: start + _VERSION_LENGTH])

    def read(self, line: bytes, remote: str | None) -> Request | None:
        """Return the request of a line that `find` returned; None if a parser might read the line in another way."""
        match = _LINE.fullmatch(line)
        if match is None or self.fields is None:
            return None
        method, path, query = match.groups(b"")
        return Request(line, _METHODS[method], path.decode(), query.decode(), HttpVersion11, self.fields, remote)

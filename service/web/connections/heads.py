"""Heads of requests: delimited in the received bytes, and parsed by aiohttp's parser or as repeated header fields."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

import msgspec
from aiohttp import HttpVersion11, hdrs
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
from service.web.http.request import VARYING, Request, RequestFields

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
        message = messages[0][0] if head_end >= 0 and len(messages) == 1 else None
        # The parser disagrees about where the head ends, accepts a line of HTTP/0.9 with LF alone, behind which it sees
        # the end only in the same packet, or `CONNECT ` without a target.
        if message is None or _ends_with_lf(message, received) or message.url is None:
            return reject(BadRequest(), b"")
        del received[:end]
        self.parsed = self.held = self.line_end_bytes = 0
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


def _ends_with_lf(message: RawRequestMessage, head: bytearray) -> bool:
    return not message.version.major and not head[: head.find(b"\n")].endswith(b"\r")


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


# A path and a query as every parser reads them. Everything else is for aiohttp's parser.
_LINE: Final = re.compile(rb"(GET|HEAD) (/(?![/])[!$-.0-;=@-Z_a-z~%/]*+)(?:\?([!$-;=?@-Z_a-z~%]*+))? HTTP/1\.1")
# The end of the request line: its version matters as much as the fields do.
_VERSION_END: Final = b" HTTP/1.1\r\n"
_VERSION_LENGTH: Final = len(b" HTTP/1.1")
# The value of a field as every parser reads it: visible ASCII, with single spaces in it.
_VALUE: Final = re.compile(rb"[!-~]++(?: [!-~]++)*")
# A field in `VARYING`, up to the first odd byte of its value.
_VARYING: Final = re.compile(rb"\r\n((?i:%b)): ?(%b)" % ("|".join(VARYING).encode(), _VALUE.pattern))
# Longer lines and fields are rare.
_REPEATED_LINE_BYTES: Final = 2048
_REPEATED_FIELD_BYTES: Final = 2048
_READ_METHODS: Final = {method.encode(): method for method in (hdrs.METH_GET, hdrs.METH_HEAD)}


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
        start, fields = head.find(_VERSION_END), request.fields.all
        repeatable = request.keep_alive and request.error is None and request.version is HttpVersion11
        framed = hdrs.CONTENT_LENGTH in fields or hdrs.TRANSFER_ENCODING in fields
        fits = start >= 0 and len(head) - start <= _REPEATED_FIELD_BYTES
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
        start = received.find(_VERSION_END, 0, _REPEATED_LINE_BYTES)
        if start < 0 or not received.startswith(self._first, start):
            return None
        end = start + len(self._first)
        if self._others:
            values = {}
            for name, text in self._others:
                value = _VALUE.match(received, end, start + _REPEATED_FIELD_BYTES)
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
        return Request(line, _READ_METHODS[method], path.decode(), query.decode(), HttpVersion11, self.fields, remote)

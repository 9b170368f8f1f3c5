"""Requests as the application sees them: line, query string and header fields."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final
from urllib.parse import quote, unquote_plus

import msgspec
from aiohttp import HttpVersion, hdrs
from multidict import CIMultiDict, CIMultiDictProxy

from service.access.api_key import credential
from service.model.errors import RequestError, Unauthorized
from service.model.operation import KEY_HEADER, KEY_PARAMETER, VERSION_HEADER
from service.web.http.content_coding import Coding, acceptable
from service.web.http.forwarded import REQUEST_ID, TRACE_PARENT, X_FORWARDED_FOR, safe_id, trace_id
from service.web.http.header_fields import LINE_END, PREFER, bounded_fields, is_strict, prefers_geo_json

# The characters of a target that need no escape; the others are bytes beyond ASCII.
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))


def without_trailing_slash(path: str, query: str) -> str:
    """Return the target without the trailing slash of its path, escaped for a Location header."""
    target = f"{path.removesuffix('/')}?{query}" if query else path.removesuffix("/")
    return quote(target.encode("utf-8", "surrogateescape"), safe=_ASCII)


_REQUEST_ID: Final = REQUEST_ID.lower()
# Fields whose values vary between the requests on a connection: of caches, tracing and proxies. The parser ignores all
# of them.
VARYING: Final = (
    hdrs.IF_NONE_MATCH,
    hdrs.IF_MODIFIED_SINCE,
    REQUEST_ID,
    TRACE_PARENT,
    "tracestate",
    X_FORWARDED_FOR,
    "X-Real-IP",
    "X-Amzn-Trace-Id",
)
_CONDITIONS: Final = (hdrs.IF_NONE_MATCH, hdrs.IF_MODIFIED_SINCE, hdrs.IF_MATCH, hdrs.IF_UNMODIFIED_SINCE)


class RequestFields:
    """The header fields of a request.

    A connection reuses them while its client repeats them. What is only needed for clients with a key is read lazily.

    request_id      the identifier in X-Request-Id, if it is safe
    origin          the value of Origin
    is_conditional  whether there is a condition
    has_preference  whether there is a Prefer
    versions        the data versions that the client expects
    _received       the fields as they were parsed
    _varying        values of some in `VARYING` that replace theirs
    _all            the fields with these values, once they are read
    """

    # Those that each request needs are read faster than from the dictionary of the cached properties.
    __slots__ = (
        "__dict__",
        "_all",
        "_received",
        "_varying",
        "has_preference",
        "is_conditional",
        "origin",
        "request_id",
        "versions",
    )

    def __init__(self, headers: CIMultiDictProxy[str]) -> None:
        self._received = headers
        self._varying: Mapping[str, bytes] = {}
        self._all: CIMultiDictProxy[str] | None = headers
        self.request_id = safe_id(headers.get(REQUEST_ID))
        self.origin = headers.get(hdrs.ORIGIN)
        self.is_conditional = any(name in headers for name in _CONDITIONS)
        self.has_preference = PREFER in headers
        self.versions: Sequence[str] = headers.getall(VERSION_HEADER, ())

    def replace(self, values: Mapping[str, bytes]) -> "RequestFields":
        """Return the same fields but for the values of some in `VARYING`, which are ASCII.

        These are all that differ from the fields as they were parsed: what was replaced before is given again.
        """
        fields = RequestFields.__new__(RequestFields)
        fields.__dict__ = self.__dict__  # of the cached properties, none of which depends on these values
        fields.origin, fields.versions = self.origin, self.versions
        fields.is_conditional, fields.has_preference = self.is_conditional, self.has_preference
        fields._received, fields._varying, fields._all = self._received, values, None  # noqa: SLF001 - its own class
        fields.request_id = self.request_id
        for name, value in values.items():
            if name.lower() == _REQUEST_ID:
                fields.request_id = safe_id(value.decode())
        return fields

    @property
    def all(self) -> CIMultiDictProxy[str]:
        """All fields."""
        if self._all is None:
            headers = CIMultiDict(self._received)
            for name, value in self._varying.items():
                headers[name] = value.decode()
            self._all = CIMultiDictProxy(headers)
        return self._all

    @cached_property
    def credential(self) -> bytes:
        """What the principal of the API key is found by. Raises `Unauthorized` unless there is exactly one."""
        keys = self._received.getall(KEY_HEADER, ())
        if not keys or keys == [""]:
            raise Unauthorized(f"The header {KEY_HEADER} is missing or empty")
        if len(keys) > 1:
            raise Unauthorized(f"The header {KEY_HEADER} is repeated")
        return credential(keys[0])

    @cached_property
    def website(self) -> str | None:
        """The origin of the page that sent the request, "" for that of the service; None if it is unknown."""
        if origins := self._received.getall(hdrs.ORIGIN, ()):
            return (origins[0] or None) if len(origins) == 1 else None
        return "" if self._received.getall("Sec-Fetch-Site", ()) == ["same-origin"] else None

    @cached_property
    def codings(self) -> tuple[Coding, ...]:
        """The content codings that the client accepts, the best first."""
        return acceptable(*bounded_fields(self._received.getall(hdrs.ACCEPT_ENCODING, ())))

    @cached_property
    def prefers_geo_json(self) -> bool:
        """Whether the client prefers GeoJSON to JSON."""
        return prefers_geo_json(*bounded_fields(self.accept))

    @cached_property
    def is_strict(self) -> bool:
        """Whether the client prefers that unknown parameters are errors."""
        return self.has_preference and is_strict(self._received.getall(PREFER))

    @cached_property
    def cache_key_suffix(self) -> bytes:
        """What selects the representation, and the versions that it must be of, as lines.

        Whether unknown parameters are errors, whether GeoJSON is preferred, the accepted codings; the versions. Each
        begins with its line end, which neither another line nor the value of a field has in it.
        """
        codings = ",".join(coding.token for coding in self.codings)
        lines = "", f"{self.is_strict:d}{self.prefers_geo_json:d}{codings}", *self.versions
        return LINE_END.join(lines).encode("utf-8", "surrogateescape")

    @property
    def trace_id(self) -> str | None:
        """The trace identifier in `traceparent`, if it is valid."""
        return trace_id(self.all.get(TRACE_PARENT))

    @property
    def accept(self) -> Sequence[str]:
        """The Accept fields."""
        return self._received.getall(hdrs.ACCEPT, ())


class Request(msgspec.Struct, frozen=True, gc=False):
    """A request.

    line         the request line, which decides method, path, query and version
    path, query  of the target, as the client wrote them
    version      1.0 or 1.1, else `error` is set
    remote       the address of the client; None on a Unix socket
    keep_alive   whether the connection may stay open after the response
    error        an error in the framing or the version, if any: the connection closes after the response
    is_public    whether its key is public, which bounds the number of records
    """

    line: bytes
    method: str
    path: str
    query: str
    version: HttpVersion
    fields: RequestFields
    remote: str | None
    keep_alive: bool = True
    error: RequestError | None = None
    is_public: bool = False


# A pair of a raw query whose name is `key`, however it is escaped, and its value.
_KEY: Final = "".join(f"(?:{letter}|%{ord(letter) >> 4}(?i:{ord(letter) & 15:x}))" for letter in KEY_PARAMETER)
_KEY_PAIR: Final = re.compile(f"{_KEY}(?:=(.*))?", re.DOTALL)
_HAS_KEY: Final = re.compile(rf"(?:\A|&){_KEY}(?:[=&]|\Z)")


def take_keys(query: str) -> tuple[str, Sequence[str]]:
    """Return a raw query without the pairs whose name is `key`, and their values, decoded."""
    others, keys = [], []
    for pair in query.split("&"):
        written = _KEY_PAIR.fullmatch(pair)
        if written is None:
            others.append(pair)
        else:
            keys.append(unquote_plus(written[1] or ""))
    return "&".join(others), keys


def without_keys(request: Request) -> tuple[Request, Sequence[str]]:
    """Return the request that differs only in having no parameter `key`, and the values of that."""
    if _HAS_KEY.search(request.query) is None:
        return request, ()
    query, keys = take_keys(request.query)
    target = f"{request.path}?{query}" if query else request.path
    line = f"{request.method} {target} HTTP/{request.version.major}.{request.version.minor}"
    return msgspec.structs.replace(request, line=line.encode("utf-8", "surrogateescape"), query=query), keys

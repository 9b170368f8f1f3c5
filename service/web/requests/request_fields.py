"""The header fields of a request, each interpreted at most once."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from aiohttp import hdrs
from multidict import CIMultiDict, CIMultiDictProxy

from service.access.api_key import digest
from service.model.errors import Unauthorized
from service.model.operation import KEY_HEADER, VERSION_HEADER
from service.web.headers.conditional import is_conditional
from service.web.headers.content_coding import Coding, acceptable
from service.web.headers.forwarded import X_FORWARDED_FOR
from service.web.headers.header_lines import LINE_END
from service.web.headers.list_fields import bounded_fields
from service.web.headers.media_types import prefers_geo_json
from service.web.headers.prefer import PREFER, is_strict
from service.web.headers.request_id import REQUEST_ID, TRACE_PARENT, safe_id, trace_id

_REQUEST_ID: Final = REQUEST_ID.lower()
# Fields whose values differ between the requests on a connection, from caches, tracing and proxies. None of them means
# anything to the parser.
OWN: Final = (
    hdrs.IF_NONE_MATCH,
    hdrs.IF_MODIFIED_SINCE,
    REQUEST_ID,
    TRACE_PARENT,
    "tracestate",
    X_FORWARDED_FOR,
    "X-Real-IP",
    "X-Amzn-Trace-Id",
)
# The cached properties that depend on these values.
OF_OWN: Final = ("all", "request_id", "trace_id")


class RequestFields:
    """The header fields of a request.

    A connection keeps them while its client sends the same ones. What only a client with a key may cause to be read is
    read when it is needed.

    origin          the value of Origin
    is_conditional  whether there is a condition
    has_preference  whether there is a Prefer
    versions        the data versions that the client expects
    _received       the fields as they were parsed
    _own            values of some in `OWN` that replace theirs
    """

    def __init__(self, headers: CIMultiDictProxy[str]) -> None:
        self._received = headers
        self._own: Mapping[str, bytes] = {}
        self.origin = headers.get(hdrs.ORIGIN)
        self.is_conditional = is_conditional(headers)
        self.has_preference = PREFER in headers
        self.versions: Sequence[str] = headers.getall(VERSION_HEADER, ())

    def replace(self, values: Mapping[str, bytes]) -> "RequestFields":
        """Return the same fields but for the values of some in `OWN`, which are ASCII.

        These are all that differ from the fields as they were parsed: what was replaced before is given again.
        """
        fields = RequestFields.__new__(RequestFields)
        attributes = fields.__dict__
        attributes |= self.__dict__
        for name in OF_OWN:
            attributes.pop(name, None)
        attributes["_own"] = values
        return fields

    @cached_property
    def all(self) -> CIMultiDictProxy[str]:
        """All fields."""
        if not self._own:
            return self._received
        headers = CIMultiDict(self._received)
        for name, value in self._own.items():
            headers[name] = value.decode()
        return CIMultiDictProxy(headers)

    @cached_property
    def request_id(self) -> str | None:
        """The identifier in X-Request-Id, if it is safe."""
        for name, value in self._own.items():
            if name.lower() == _REQUEST_ID:
                return safe_id(value.decode())
        return safe_id(self._received.get(REQUEST_ID))

    @cached_property
    def key_digest(self) -> bytes:
        """The digest of the API key. Raises `Unauthorized` unless there is exactly one."""
        keys = self._received.getall(KEY_HEADER, ())
        if not keys or keys == [""]:
            raise Unauthorized(f"The header {KEY_HEADER} is missing or empty")
        if len(keys) > 1:
            raise Unauthorized(f"The header {KEY_HEADER} is repeated")
        return digest(keys[0])

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
    def wanted(self) -> bytes:
        """What selects the representation, and the versions that it must be of, as lines after another one.

        Whether unknown parameters are errors, whether GeoJSON is preferred, the accepted codings; the versions. Each
        begins with its line end, which neither another line nor the value of a field has in it.
        """
        codings = ",".join(coding.token for coding in self.codings)
        lines = "", f"{self.is_strict:d}{self.prefers_geo_json:d}{codings}", *self.versions
        return LINE_END.join(lines).encode("utf-8", "surrogateescape")

    @cached_property
    def trace_id(self) -> str | None:
        """The trace identifier in `traceparent`, if it is valid."""
        return trace_id(self.all.get(TRACE_PARENT))

    @property
    def accept(self) -> Sequence[str]:
        """The Accept fields."""
        return self._received.getall(hdrs.ACCEPT, ())

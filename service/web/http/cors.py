"""CORS: access for the pages of other origins (the Fetch standard, "CORS protocol")."""

from functools import lru_cache
from typing import Final

from aiohttp import hdrs
from multidict import CIMultiDictProxy

from service.model.operation import (
    COUNT_HEADER,
    IGNORED_HEADER,
    KEY_HEADER,
    RATE_LIMIT,
    RATE_LIMIT_POLICY,
    VERSION_HEADER,
)
from service.settings import ANY_ORIGIN
from service.web.http.forwarded import REQUEST_ID, TRACE_PARENT
from service.web.http.header_fields import HeaderLines, header_lines

_EXPOSED: Final = (
    "Link",
    "ETag",
    VERSION_HEADER,
    IGNORED_HEADER,
    COUNT_HEADER,
    "Content-Disposition",
    "Retry-After",
    REQUEST_ID,
    RATE_LIMIT,
    RATE_LIMIT_POLICY,
)
# Request fields that need a preflight. Those on the CORS safelist need none.
_REQUESTED: Final = (
    KEY_HEADER,
    "Prefer",
    VERSION_HEADER,
    REQUEST_ID,
    TRACE_PARENT,
    "If-None-Match",
    "If-Modified-Since",
    "If-Match",
    "If-Unmodified-Since",
)
# Two hours: the longest that Chromium respects.
_MAX_AGE_SECONDS: Final = 7200
_PREFLIGHT: Final = header_lines(
    {
        "Access-Control-Allow-Methods": "GET, HEAD",
        "Access-Control-Allow-Headers": ", ".join(_REQUESTED),
        "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
    }
)
PREFLIGHT_VARY: Final = "Access-Control-Request-Method, Access-Control-Request-Headers"


class Cors:
    """Allows the pages of some origins to read responses; `lines` caches `_lines`."""

    def __init__(self, origins: frozenset[str]) -> None:
        self._any_origin = ANY_ORIGIN in origins
        self._origins = frozenset() if self._any_origin else origins
        self.lines = lru_cache(self._lines)

    def preflight(self, headers: CIMultiDictProxy[str], *, is_website: bool) -> HeaderLines | None:
        """Return the fields of the answer to a preflight request of an allowed origin, None for any other request.

        Allowed is also that of the website of a public key.
        """
        origin = headers.get(hdrs.ORIGIN)
        is_allowed = self._any_origin or is_website or origin in self._origins
        is_preflight = origin is not None and hdrs.ACCESS_CONTROL_REQUEST_METHOD in headers
        return _PREFLIGHT if is_preflight and is_allowed else None

    def _lines(self, vary: str, origin: str | None, website: str | None = None) -> HeaderLines:
        """Return the CORS fields of a response to an origin, and its one Vary field.

        For a response to a public key `website` is the origin that may read it, too, `*` for any, "" for none.
        """
        varies = self._origins or website is not None
        varying = [names for names in (vary, hdrs.ORIGIN if varies else "") if names]
        fields = {"Vary": ", ".join(varying)} if varying else {}
        if allowed := ANY_ORIGIN if self._any_origin else origin if origin in self._origins else website:
            fields["Access-Control-Allow-Origin"] = allowed
            fields["Access-Control-Expose-Headers"] = ", ".join(_EXPOSED)
        return header_lines(fields)

"""Pages of other origins (the Fetch standard, "CORS protocol")."""

from functools import lru_cache
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs
from multidict import CIMultiDictProxy

from service.model.operation import RATE_LIMIT, RATE_LIMIT_POLICY, VERSION_HEADER
from service.web.answer import Answer, header_lines
from service.web.auth import KEY_HEADER
from service.web.headers.request_id import REQUEST_ID, TRACE_PARENT
from service.web.policy import ANY_ORIGIN

_EXPOSED: Final = ("Link", "ETag", VERSION_HEADER, "Retry-After", REQUEST_ID, RATE_LIMIT, RATE_LIMIT_POLICY)
# What a page may send that it could not send without asking: those of the safe list need not be named.
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
# Two hours: the longest that Chromium heeds.
_MAX_AGE_SECONDS: Final = 7200
_PREFLIGHT: Final = header_lines(
    {
        "Access-Control-Allow-Methods": "GET, HEAD",
        "Access-Control-Allow-Headers": ", ".join(_REQUESTED),
        "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
    }
)
_PREFLIGHT_VARY: Final = "Access-Control-Request-Method, Access-Control-Request-Headers"


class Cors:
    """Lets the pages of some origins read answers."""

    def __init__(self, origins: frozenset[str]) -> None:
        self._anybody = ANY_ORIGIN in origins
        self._origins = frozenset() if self._anybody else origins
        self._lines = lru_cache(self._made)

    def lines(self, vary: str, origin: str | None) -> str:
        """Return the header lines that let a page of an origin read an answer, and Vary, once for all reasons."""
        return self._lines(vary, origin if origin in self._origins else None)

    def preflight(self, headers: CIMultiDictProxy[str]) -> Answer | None:
        """Return the answer to a browser that asks whether a page may send a request, or None if it is not to be."""
        origin = headers.get(hdrs.ORIGIN)
        if origin is None or hdrs.ACCESS_CONTROL_REQUEST_METHOD not in headers:
            return None
        if not self._anybody and origin not in self._origins:
            return None
        return Answer((), status=HTTPStatus.NO_CONTENT.value, headers=_PREFLIGHT, vary=_PREFLIGHT_VARY)

    def _made(self, vary: str, origin: str | None) -> str:
        reasons = [reason for reason in (vary, hdrs.ORIGIN if self._origins else "") if reason]
        fields = {"Vary": ", ".join(reasons)} if reasons else {}
        if reader := ANY_ORIGIN if self._anybody else origin:
            fields["Access-Control-Allow-Origin"] = reader
            fields["Access-Control-Expose-Headers"] = ", ".join(_EXPOSED)
        return header_lines(fields)

"""CORS: access for the pages of other origins (the Fetch standard, "CORS protocol")."""

import re
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
from service.web.http.forwarded import REQUEST_ID, TRACE_PARENT
from service.web.http.header_fields import HeaderLines, header_lines

ANY_ORIGIN: Final = "*"
_HIGHEST_PORT: Final = 65535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# An origin as browsers write it: a scheme, a host and an optional port (RFC 6454 section 6.2).
_HOST: Final = r"[a-z0-9._~!$&'()+;=%-]+|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://({_HOST})(:(?P<port>[0-9]{{1,5}}))?")
# In the path of a tile. The host has no character that ends a directive of Content-Security-Policy.
_OF_A_TILE: Final = ("{z}", "{x}", "{y}")
_TILES: Final = re.compile(r"(?P<origin>https?://[A-Za-z0-9.:\[\]-]+)(?P<path>/.*)")


def tiles_origin(url: str) -> str:
    """Return the origin of a URL of map tiles. Raises `ValueError` with the reason."""
    written = _TILES.fullmatch(url)
    if written is None or not all(part in written["path"] for part in _OF_A_TILE):
        raise ValueError(f"{url!r} is not a URL of tiles: write https://host/{{z}}/{{x}}/{{y}}.png")
    return parse_origin(written["origin"])


def parse_origin(text: str) -> str:
    """Parse an origin, and return it as browsers write it, or `*`. Raises `ValueError` with the reason."""
    origin = text.lower()
    if origin == ANY_ORIGIN:
        return origin
    written = _ORIGIN.fullmatch(origin)
    if written is None or int(written["port"] or 0) > _HIGHEST_PORT:
        raise ValueError(f"{text!r} is not an origin: write https://shop.example, without a path, or *")
    default = _DEFAULT_PORTS.get(written["scheme"])
    return origin.removesuffix(f":{default}") if default and written["port"] else origin


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

    def preflight(self, headers: CIMultiDictProxy[str]) -> HeaderLines | None:
        """Return the fields of the answer to a preflight request of an allowed origin, None for any other request."""
        origin = headers.get(hdrs.ORIGIN)
        if origin is None or hdrs.ACCESS_CONTROL_REQUEST_METHOD not in headers:
            return None
        if not self._any_origin and origin not in self._origins:
            return None
        return _PREFLIGHT

    def _lines(self, vary: str, origin: str | None) -> HeaderLines:
        """Return the CORS fields of a response to an origin, and its one Vary field."""
        varying = [names for names in (vary, hdrs.ORIGIN if self._origins else "") if names]
        fields = {"Vary": ", ".join(varying)} if varying else {}
        if allowed := ANY_ORIGIN if self._any_origin else origin if origin in self._origins else None:
            fields["Access-Control-Allow-Origin"] = allowed
            fields["Access-Control-Expose-Headers"] = ", ".join(_EXPOSED)
        return header_lines(fields)

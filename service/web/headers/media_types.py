"""The choice of a media type by Accept (RFC 9110 section 12.5.1)."""

from functools import lru_cache
from typing import Final

from service.model.operation import GEO_JSON, JSON
from service.web.headers.list_fields import weights

# Ranges that JSON is in, the most specific first.
_JSON_RANGES: Final = (JSON, "application/*", "*/*")
_CACHE_ENTRIES: Final = 1024


@lru_cache(_CACHE_ENTRIES)
def prefers_geo_json(*accept: str) -> bool:
    """Return whether Accept fields name GeoJSON, and want it at least as much as JSON."""
    wanted = weights(accept)
    geo_json = wanted.get(GEO_JSON, 0.0)
    return geo_json > 0 and geo_json >= next((wanted[each] for each in _JSON_RANGES if each in wanted), 0.0)

"""The target of a request: the segments of its path and the pairs of its query (RFC 9112 section 3.2)."""

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote_plus

# The characters of a target that need no escape; the others are bytes beyond ASCII.
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))
# Those of a URI's query beside letters and digits (RFC 3986 section 3.4), and the % of existing escapes.
_QUERY: Final = "-._~!$&'()*+,;=:@/?%"
_STRAY_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a raw query: `+` is a space, `;` separates nothing, bytes that are not UTF-8 are U+FFFD."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return parse_qsl(query, keep_blank_values=True)


def without_trailing_slash(path: str, query: str) -> str:
    """Return the target without the trailing slash of its path, escaped for a Location header."""
    target = f"{path.removesuffix('/')}?{query}" if query else path.removesuffix("/")
    return quote(target.encode("utf-8", "surrogateescape"), safe=_ASCII)


def uri_query(query: str, *, without: str) -> str:
    """Return a raw query, escaped for a URI, without empty pairs and without those of one name."""
    pairs = [pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) != without]
    return quote(_STRAY_PERCENT.sub("%25", "&".join(pairs)).encode("utf-8", "surrogateescape"), safe=_QUERY)

"""The target of a request: its path, and the pairs of its query (RFC 9112 section 3.2)."""

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote_plus

# Everything that may stand in a target as it is; what is left are bytes beyond ASCII.
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))
# What of it a query of a URI takes, beside letters and digits (RFC 3986 section 3.4), and escapes that stand already.
_QUERY: Final = "-._~!$&'()*+,;=:@/?%"
_STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a raw query: `+` is a space, `;` a character, what is not UTF-8 is U+FFFD."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return parse_qsl(query, keep_blank_values=True)


def without_slash(path: str, query: str) -> str:
    """Return the target without the slash that ends its path, fit for a Location header."""
    target = f"{path.removesuffix('/')}?{query}" if query else path.removesuffix("/")
    return quote(target.encode("utf-8", "surrogateescape"), safe=_ASCII)


def uri_query(query: str, *, without: str) -> str:
    """Return a raw query as a URI takes it, without the pairs of one name and without empty ones."""
    pairs = [pair for pair in query.split("&") if pair and unquote_plus(pair.partition("=")[0]) != without]
    return quote(_STRAY.sub("%25", "&".join(pairs)).encode("utf-8", "surrogateescape"), safe=_QUERY)

"""The target of a request: the segments of its path and the pairs of its query (RFC 9112 section 3.2)."""

from operator import methodcaller
from typing import Final
from urllib.parse import quote, unquote_to_bytes

# The characters of a target that need no escape; the others are bytes beyond ASCII.
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))

_DIVIDE: Final = methodcaller("partition", "=")


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the pairs of a raw query: `+` is a space, `;` separates nothing, bytes that are not UTF-8 are U+FFFD."""
    if not query.isascii():
        query = query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    pairs = [(name, value) for name, equals, value in map(_DIVIDE, query.split("&")) if name or equals]
    if "%" in query or "+" in query:
        return [(_decoded(name), _decoded(value)) for name, value in pairs]
    return pairs


def _decoded(text: str) -> str:
    """Return a name or value with its spaces and escapes decoded."""
    text = text.replace("+", " ")
    return unquote_to_bytes(text).decode("utf-8", "replace") if "%" in text else text


def without_trailing_slash(path: str, query: str) -> str:
    """Return the target without the trailing slash of its path, escaped for a Location header."""
    target = f"{path.removesuffix('/')}?{query}" if query else path.removesuffix("/")
    return quote(target.encode("utf-8", "surrogateescape"), safe=_ASCII)

"""Header fields as lines of HTTP/1.1 (RFC 9112 section 5)."""

from collections.abc import Mapping
from typing import Final, TypeAlias

# Header fields, each as its line without the line end, as `header_lines` makes them.
HeaderLines: TypeAlias = tuple[str, ...]


def header_lines(headers: Mapping[str, str]) -> HeaderLines:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5).

    Raises `ValueError` for anything but printable ASCII, which rules out header injection.
    """
    lines = tuple(f"{name}: {value}" for name, value in headers.items())
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return lines


NO_STORE: Final = header_lines({"Cache-Control": "no-store"})

"""Header fields as lines of HTTP/1.1 (RFC 9112 section 5)."""

from collections.abc import Mapping
from typing import Final, TypeAlias

LINE_END: Final = "\r\n"
# Header fields, each as a line with its end, as `header_lines` makes them. One text: answers are kept by the thousand,
# and the garbage collector would traverse a sequence.
HeaderLines: TypeAlias = str


def header_lines(headers: Mapping[str, str]) -> HeaderLines:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5).

    Raises `ValueError` for anything but printable ASCII, which rules out header injection.
    """
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return "".join([line + LINE_END for line in lines])


NO_STORE: Final = header_lines({"Cache-Control": "no-store"})

"""An answer: the body, status and header fields of a response, before it is encoded as HTTP."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

JSON: Final = "application/json"


class Answer(msgspec.Struct, frozen=True):
    """A body, in pieces, with its media type and status.

    headers  further header lines, as `header_lines` makes them
    vary     the value of Vary; not among `headers`, because CORS may add to it
    """

    pieces: Sequence[bytes | memoryview]
    media_type: str = JSON
    status: int = 200
    headers: str = ""
    vary: str = ""

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.pieces))


def header_lines(headers: Mapping[str, str]) -> str:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5).

    Raises `ValueError` for anything but printable ASCII, which rules out header injection.
    """
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return "".join(f"{line}\r\n" for line in lines)


NO_STORE: Final = header_lines({"Cache-Control": "no-store"})

"""An answer: the status, header fields and body of a response, before it is encoded as HTTP."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from service.model.operation import JSON

# Header fields, each as its line without the line end, as `header_lines` makes them.
HeaderLines: TypeAlias = tuple[str, ...]


class Answer(msgspec.Struct, frozen=True):
    """A body, in pieces, with its media type and status.

    headers  further header fields
    vary     the value of Vary; not among `headers`, because CORS may add to it
    """

    pieces: Sequence[bytes | memoryview]
    media_type: str = JSON
    status: int = 200
    headers: HeaderLines = ()
    vary: str = ""

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.pieces))


def header_lines(headers: Mapping[str, str]) -> HeaderLines:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5).

    Raises `ValueError` for anything but printable ASCII, which rules out header injection.
    """
    lines = tuple(f"{name}: {value}" for name, value in headers.items())
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return lines


NO_STORE: Final = header_lines({"Cache-Control": "no-store"})

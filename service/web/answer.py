"""What is answered, before it is HTTP."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import msgspec

from service.errors import RequestError

JSON: Final = "application/json"


class Answer(msgspec.Struct, frozen=True):
    """A body, in pieces, with its media type, status and further header lines, as `header_lines` makes them."""

    pieces: Sequence[bytes | memoryview]
    media_type: str = JSON
    status: int = 200
    headers: str = ""

    @classmethod
    def of(cls, error: RequestError) -> "Answer":
        """Return the one shape of error, for every error."""
        lines = _error_lines(*error.headers.items())
        return cls((msgspec.json.encode(error.body),), status=error.status.value, headers=lines)

    def with_headers(self, lines: str) -> "Answer":
        """Return the same answer with further header lines."""
        return Answer(self.pieces, self.media_type, self.status, self.headers + lines)


@cache
def _error_lines(*headers: tuple[str, str]) -> str:
    return header_lines(dict(headers))


def header_lines(headers: Mapping[str, str]) -> str:
    """Return header fields as lines of HTTP/1.1 (RFC 9112 section 5). Raises `ValueError` where one would break out."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header field takes printable ASCII only")
    return "".join(f"{line}\r\n" for line in lines)

"""A response: an answer encoded as HTTP/1.1, head and body."""

from collections.abc import Iterator, Sequence
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time
from typing import Final, TypeAlias

import msgspec
from aiohttp import HttpVersion, HttpVersion11, hdrs

from service import __version__
from service.web.answers.answer import Answer
from service.web.headers.header_lines import LINE_END, HeaderLines, header_lines

_SERVER: Final = f"store-directory/{__version__}"
# A shorter body is copied behind the head: one copy costs less than sending several pieces.
_SHORT_BYTES: Final = 4 << 10
# Responses without Content-Type and Content-Length (RFC 9110 sections 8.6, 15.4.5).
_WITHOUT_CONTENT: Final = (HTTPStatus.NO_CONTENT.value, HTTPStatus.NOT_MODIFIED.value)
# The end of the start of a head: the field that says where the body ends.
_LENGTH: Final = "Content-Length: "
_CHUNKED: Final = f"Transfer-Encoding: chunked{LINE_END}"
_CLOSE: Final = header_lines({hdrs.CONNECTION: "close"})
_KEEP_ALIVE: Final = header_lines({hdrs.CONNECTION: "keep-alive"})

Pieces: TypeAlias = Sequence[bytes | memoryview]


class Response(msgspec.Struct, frozen=True, gc=False):
    """An answer with further header fields.

    closes         whether the server closes the connection after it
    authenticated  whether the request had a valid key
    """

    answer: Answer
    headers: HeaderLines = ""
    closes: bool = False
    authenticated: bool = False

    def encode(self, method: str, version: HttpVersion, *, keep_alive: bool) -> Pieces:
        """Encode the response to a request of a method and version, in pieces: a long body is not copied.

        Of a stream that is the head alone. Its body is chunked; in HTTP/1.0 it ends with the connection.
        """
        answer, pieces = self.answer, self.answer.pieces
        length = sum(map(len, pieces))
        if answer.stream is not None:
            start = _start(answer.status, answer.media_type, int(time()), _CHUNKED if version == HttpVersion11 else "")
        elif answer.status in _WITHOUT_CONTENT:
            start = _start(answer.status, answer.media_type, int(time()), "")
        else:
            start = f"{_start(answer.status, answer.media_type, int(time()), _LENGTH)}{length}{LINE_END}"
        common_case = keep_alive and version is HttpVersion11
        connection = "" if common_case else _connection(version, keep_alive=keep_alive)
        head = f"{start}{answer.headers}{self.headers}{connection}{LINE_END}".encode("ascii")
        if method == hdrs.METH_HEAD:
            return (head,)
        return (b"".join((head, *pieces)),) if length < _SHORT_BYTES else (head, *pieces)


def held_bytes(pieces: Pieces) -> int:
    """Return the memory in bytes that pieces hold: read-only views are mapped from a file."""
    return sum([len(piece) for piece in pieces if isinstance(piece, bytes) or not piece.readonly])


def split(pieces: Pieces, size: int) -> Iterator[memoryview]:
    """Yield pieces in parts of at most `size` bytes, without a copy."""
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield memoryview(piece)[start : start + size]


def _connection(version: HttpVersion, *, keep_alive: bool) -> HeaderLines:
    """Return the Connection field unless it is the default of the version (RFC 9112 section 9.3)."""
    if version == HttpVersion11:
        return "" if keep_alive else _CLOSE
    return _KEEP_ALIVE if keep_alive else ""


@lru_cache
def _start(status: int, media_type: str, second: int, framing: str) -> str:
    """Return the start of every head with a status and a media type in one second, with a field about its framing."""
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Server: {_SERVER}",
        f"Date: {formatdate(second, usegmt=True)}",
    ]
    if status not in _WITHOUT_CONTENT:
        lines += [f"Content-Type: {media_type}"]
    return LINE_END.join((*lines, framing))

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

_SERVER: Final = header_lines({hdrs.SERVER: f"store-directory/{__version__}"})
_STARTS: Final = {each.value: f"HTTP/1.1 {each.value} {each.phrase}{LINE_END}{_SERVER}" for each in HTTPStatus}
# A shorter body is copied behind the head: one copy costs less than sending several pieces.
_SHORT_BYTES: Final = 4 << 10
# Responses without Content-Type and Content-Length (RFC 9110 sections 8.6, 15.4.5).
_WITHOUT_CONTENT: Final = (HTTPStatus.NO_CONTENT.value, HTTPStatus.NOT_MODIFIED.value)
_CHUNKED: Final = header_lines({"Transfer-Encoding": "chunked"})
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
        answer = self.answer
        framing = _CHUNKED if answer.stream is not None and version == HttpVersion11 else ""
        common_case = keep_alive and version is HttpVersion11
        connection = "" if common_case else _connection(version, keep_alive=keep_alive)
        own = f"{_date(int(time()))}{framing}{self.headers}{connection}{LINE_END}".encode("ascii")
        length = sum(map(len, answer.pieces))
        start = answer.head or _head(answer, length)
        if method == hdrs.METH_HEAD:
            return (start + own,)
        if length < _SHORT_BYTES:
            return (b"".join((start, own, *answer.pieces)),)
        return (start + own, *answer.pieces)


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


def _head(answer: Answer, length: int) -> bytes:
    """Return what the heads of all responses with an answer begin with, and keep it in the answer."""
    start, content = _STARTS[answer.status], ""
    if answer.status not in _WITHOUT_CONTENT:
        content = f"Content-Type: {answer.media_type}{LINE_END}"
        if answer.stream is None:
            content += f"Content-Length: {length}{LINE_END}"
    answer.head = f"{start}{content}{answer.headers}".encode("ascii")
    return answer.head


@lru_cache
def _date(second: int) -> HeaderLines:
    """Return the Date field of a second (RFC 9110 section 6.6.1)."""
    return header_lines({"Date": formatdate(second, usegmt=True)})

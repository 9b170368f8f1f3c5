"""An answer as HTTP: its head and body as they are sent."""

from collections.abc import Iterator, Sequence
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time
from typing import Final, TypeAlias

import msgspec
from aiohttp import HttpVersion, HttpVersion11, hdrs

from service import __version__
from service.web.answer import Answer

_SERVER: Final = f"store-directory/{__version__}"
# Below so many bytes one copy costs less than several pieces.
_SHORT: Final = 4 << 10
# Their head tells nothing of a body (RFC 9110 sections 8.6, 15.4.5).
_WITHOUT_CONTENT: Final = (HTTPStatus.NO_CONTENT.value, HTTPStatus.NOT_MODIFIED.value)

Pieces: TypeAlias = Sequence[bytes | memoryview]


class Response(msgspec.Struct, frozen=True):
    """An answer with further header lines.

    closes         whether it is the last one on its connection
    authenticated  whether the request had a valid key
    """

    answer: Answer
    more: str = ""
    closes: bool = False
    authenticated: bool = False

    def encode(self, method: str, version: HttpVersion, *, keep_alive: bool) -> Pieces:
        """Return the response to a request of a method and version, in pieces: a long body is not copied."""
        answer, pieces = self.answer, self.answer.pieces
        length = sum(map(len, pieces))
        content = f"Content-Type: {answer.media_type}\r\nContent-Length: {length}\r\n"
        if answer.status in _WITHOUT_CONTENT:
            content = ""
        start = _start(answer.status, int(time()))
        usual = keep_alive and version is HttpVersion11
        connection = "" if usual else _connection(version, keep_alive=keep_alive)
        head = f"{start}{content}{answer.headers}{self.more}{connection}\r\n".encode("ascii")
        if method == hdrs.METH_HEAD:
            return (head,)
        return (b"".join((head, *pieces)),) if length < _SHORT else (head, *pieces)


def parts(pieces: Pieces, size: int) -> Iterator[memoryview]:
    """Yield pieces in parts of at most so many bytes, which are not copied."""
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield memoryview(piece)[start : start + size]


def _connection(version: HttpVersion, *, keep_alive: bool) -> str:
    """Return the Connection field where the version does not mean the same without it (RFC 9112 section 9.3)."""
    if version == HttpVersion11:
        return "" if keep_alive else "Connection: close\r\n"
    return "Connection: keep-alive\r\n" if keep_alive else ""


@lru_cache
def _start(status: int, second: int) -> str:
    """Return what the heads of all answers of a status begin with in one second."""
    line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return f"{line}Server: {_SERVER}\r\nDate: {formatdate(second, usegmt=True)}\r\n"

"""Answers, streams, and responses: an answer encoded as HTTP/1.1, head and body."""

from collections.abc import Callable, Iterator, Sequence
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time
from typing import Final, TypeAlias

import msgspec
from aiohttp import HttpVersion, HttpVersion11, hdrs

from service import __version__
from service.model.errors import RequestError
from service.model.operation import JSON, PROBLEM
from service.web.http.header_fields import LINE_END, NO_STORE, HeaderLines, bounded_fields, header_lines, weights

_LINE_END: Final = b"\r\n"
_LAST_CHUNK: Final = b"0\r\n\r\n"


class Stream:
    """A body whose length is not known before it ends.

    nbytes  memory that it holds besides its pieces
    sent    bytes of the body that were passed on
    ended   is called once, when the body ends or is given up
    """

    def __init__(self, pieces: Iterator[bytes | memoryview], nbytes: int = 0) -> None:
        """Send some pieces, of which some may be empty; each is made within a few milliseconds."""
        self._pieces: Iterator[bytes | memoryview] | None = pieces
        self.nbytes, self.sent = nbytes, 0
        self.ended: Callable[[], object] = int

    def map(
        self, change: Callable[[Iterator[bytes | memoryview]], Iterator[bytes | memoryview]], nbytes: int
    ) -> "Stream":
        """Return a stream of what a function, which holds some memory, makes of the pieces of this one."""
        pieces, self._pieces = self._pieces or iter(()), None
        return Stream(change(pieces), self.nbytes + nbytes)

    def take(self) -> bytes | memoryview | None:
        """Return the next piece, which may be empty; None at the end."""
        piece = None if self._pieces is None else next(self._pieces, None)
        self.sent += 0 if piece is None else len(piece)
        return piece

    def close(self) -> None:
        """End it: what it holds is released."""
        self._pieces, ended, self.ended = None, self.ended, int
        ended()


def chunk(piece: bytes | memoryview | None) -> Sequence[bytes | memoryview]:
    """Return a piece that is not empty as a chunk (RFC 9112 section 7.1); the last chunk for None."""
    return (_LAST_CHUNK,) if piece is None else (b"%x\r\n" % len(piece), piece, _LINE_END)


class Answer(msgspec.Struct, eq=False, gc=False):
    """A body, in pieces, with its media type and status.

    Thousands are kept, and the garbage collector, which stops all requests, does not look at them: the cycle of an
    answer and what is called when its stream ends is broken then.

    headers  further header fields
    vary     the value of Vary; not among `headers`, because CORS may add to it
    stream   the body, if it is made while it is sent
    head     what the heads of all its responses begin with, once there was one
    size     the length of the body in bytes; 0 until it is counted, and of a stream

    found_nothing  whether it answers a search for words that no record has
    """

    pieces: Sequence[bytes | memoryview]
    media_type: str = JSON
    status: int = 200
    headers: HeaderLines = ""
    vary: str = ""
    stream: Stream | None = None
    head: str = ""
    size: int = 0
    found_nothing: bool = False

    @property
    def length(self) -> int:
        """The length of the body in bytes; of a stream, of what was sent of it."""
        return sum(map(len, self.pieces)) if self.stream is None else self.stream.sent


_CACHE_ENTRIES: Final = 1024


def error_answer(
    error: RequestError, accept: Sequence[str], *, vary: str = "Accept", links: HeaderLines = ""
) -> Answer:
    """Return the answer of an error, in the form that the Accept fields select. Caches may not store it.

    `links` are further header fields.
    """
    problem = error.may_be_problem and _wants_problem(*bounded_fields(accept))
    return Answer(
        (msgspec.json.encode(error.problem if problem else error.body),),
        PROBLEM if problem else JSON,
        error.status.value,
        _lines(*error.headers.items()) + links,
        vary,
    )


@lru_cache(_CACHE_ENTRIES)
def _wants_problem(*accept: str) -> bool:
    return weights(accept).get(PROBLEM, 0.0) > 0


@lru_cache
def _lines(*headers: tuple[str, str]) -> HeaderLines:
    return NO_STORE + header_lines(dict(headers))


# No response is anything but what its Content-Type says (Fetch standard, "nosniff").
_SERVER: Final = header_lines({hdrs.SERVER: f"store-directory/{__version__}", "X-Content-Type-Options": "nosniff"})
_STARTS: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}{LINE_END}{_SERVER}" for status in HTTPStatus}
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
        persists = version == HttpVersion11  # by default (RFC 9112 section 9.3)
        framing = _CHUNKED if answer.stream is not None and persists else ""
        connection = "" if keep_alive == persists else _KEEP_ALIVE if keep_alive else _CLOSE
        start = answer.head or _head(answer)
        head = f"{start}{_date(int(time()))}{framing}{self.headers}{connection}{LINE_END}".encode("ascii")
        if method == hdrs.METH_HEAD:
            return (head,)
        if answer.size < _SHORT_BYTES:
            return (b"".join((head, *answer.pieces)),)
        return (head, *answer.pieces)


def held_bytes(pieces: Pieces) -> int:
    """Return the memory in bytes that pieces hold: read-only views are mapped from a file."""
    return sum([len(piece) for piece in pieces if isinstance(piece, bytes) or not piece.readonly])


def split(pieces: Pieces, size: int) -> Iterator[memoryview]:
    """Yield pieces in parts of at most `size` bytes, without a copy."""
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield memoryview(piece)[start : start + size]


def _head(answer: Answer) -> str:
    """Return what the heads of all responses with an answer begin with, and keep it in the answer, with the length."""
    start = _STARTS[answer.status]
    answer.size = answer.size or answer.length
    if answer.status in _WITHOUT_CONTENT:
        answer.head = f"{start}{answer.headers}"
    else:
        length = f"Content-Length: {answer.size}{LINE_END}" if answer.stream is None else ""
        answer.head = f"{start}Content-Type: {answer.media_type}{LINE_END}{length}{answer.headers}"
    return answer.head


@lru_cache
def _date(second: int) -> HeaderLines:
    """Return the Date field of a second (RFC 9110 section 6.6.1)."""
    return header_lines({"Date": formatdate(second, usegmt=True)})

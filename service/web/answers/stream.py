"""A body that is made piece by piece while it is sent."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

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
        if self._pieces is not None:
            self._pieces, ended, self.ended = None, self.ended, int
            ended()


def chunk(piece: bytes | memoryview | None) -> Sequence[bytes | memoryview]:
    """Return a piece that is not empty as a chunk (RFC 9112 section 7.1); the last chunk for None."""
    return (_LAST_CHUNK,) if piece is None else (b"%x\r\n" % len(piece), piece, _LINE_END)

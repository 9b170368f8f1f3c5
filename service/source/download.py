"""A baked file that comes from an origin, in one piece or, where the connection is cut, in several."""

import errno
import os
import re
from collections.abc import Mapping
from io import FileIO
from typing import Final

from aiohttp import ClientResponse

from service.baking.layout import DamagedFile, promised_length
from service.progress import Progress
from service.source.failures import unavailable
from service.source.source import Rejected, Unavailable
from service.source.thread import finished
from service.source.validators import fingerprint, is_strong

# RFC 9110, section 14.4. No file is longer than these numbers, and Python reads only so many digits.
_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")


class Download:
    """What there is of a file so far.

    fingerprint  what the origin tells it by; "" where it tells nothing, None where nothing has come yet
    """

    def __init__(self, name: str, file: FileIO, progress: Progress) -> None:
        self.fingerprint: str | None = None
        self._name, self._file, self._progress = name, file, progress
        self._forget()

    def _forget(self) -> None:
        self._had = 0  # bytes in the file
        self._length: int | None = None  # bytes in all, as the origin says
        self._promised: int | None = None  # bytes in all, as the header of the file says
        self._beginning = bytearray()  # of the file, until the header is all there

    @property
    def resumable(self) -> int:
        """How many bytes need not be sent again: none where no strong entity tag says that the rest is of one file."""
        return self._had if is_strong(self.fingerprint or "") else 0

    @property
    def wish(self) -> dict[str, str]:
        """The headers that ask for the rest alone, if the file is still the same (RFC 9110, sections 13.1.5, 14.2)."""
        return {"Range": f"bytes={self._had}-", "If-Range": f"{self.fingerprint}"} if self.resumable else {}

    async def begin(self, response: ClientResponse) -> str:
        """Receive a whole file; return its fingerprint."""
        self._forget()
        self._file.seek(0)
        self._file.truncate()
        self.fingerprint = fingerprint(response.headers)
        self._length = response.content_length
        return await self._receive(response)

    async def go_on(self, response: ClientResponse) -> str:
        """Receive the rest; where the answer is another part, or none, there is nothing to go on from."""
        if not self._follows(response.headers):
            self._forget()
            raise Unavailable(f"{self._name}: the origin does not go on where the answer was cut off")
        return await self._receive(response)

    def _follows(self, headers: Mapping[str, str]) -> bool:
        if (part := _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))) is None:
            return False
        first, length = part.groups()
        same_length = length == "*" or self._length in (None, int(length))
        return int(first) == self._had and same_length and headers.get("ETag") in (None, self.fingerprint)

    async def _receive(self, response: ClientResponse) -> str:
        """Write what comes. What aiohttp still holds of it at a cut, some 100 kB, is lost and asked for again."""
        while piece := await self._piece(response):
            self._judge(piece)
            await finished(_write, self._file, piece)
            self._had += len(piece)
            if self._promised is not None:
                self._progress(f"Fetching {self._name}", self._had, self._promised)
        if self._had < self._expected(response):
            raise Unavailable(f"{self._name}: the answer was cut off")
        return self.fingerprint or ""

    async def _piece(self, response: ClientResponse) -> bytes:
        with unavailable(self._name):
            return await response.content.readany()

    def _judge(self, piece: bytes) -> None:
        """Raise `Rejected` as soon as this can be no baked file, or goes on past the end of one."""
        if self._promised is None:
            self._beginning += piece
            try:
                self._promised = promised_length(self._beginning)
            except DamagedFile as damage:
                raise self._rejected(f"{damage}") from damage
            if self._promised is None:
                return
            self._beginning.clear()
            self._check_room(self._promised)
        length = self._length if self._length is not None else self._had + len(piece)
        if length > self._promised or self._length not in (None, self._promised):
            told = "more" if self._length is None else f"{length:,} bytes"
            raise self._rejected(f"the file has {self._promised:,} bytes by its header, {told} by the origin")

    def _rejected(self, why: str) -> Rejected:
        return Rejected(f"{self._name}: {why}", fingerprint=self.fingerprint or f"rejected: {why}")

    def _check_room(self, length: int) -> None:
        """Raise OSError where there is no room: better before all of it is filled."""
        disk = os.fstatvfs(self._file.fileno())
        if length - self._had > disk.f_bavail * disk.f_frsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _expected(self, response: ClientResponse) -> int:
        """Return how many bytes there must be at the end of an answer; where nothing marks it, a cut looks like it."""
        if self._length is not None:
            return self._length
        marked = "chunked" in response.headers.get("Transfer-Encoding", "")
        return 0 if marked else self._promised or 0


def _write(file: FileIO, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]

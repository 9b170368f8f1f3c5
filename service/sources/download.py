"""A download of a baked file, resumed with range requests if the connection breaks."""

import errno
import os
import re
from collections.abc import Mapping
from io import FileIO
from typing import Final

from aiohttp import ClientResponse

from service.baking.layout import DamagedFile, expected_length
from service.data_set import Rejected
from service.progress import Progress
from service.sources.blocking import run_to_end
from service.sources.fetch_errors import unavailable
from service.sources.origin_validators import fingerprint, is_strong
from service.sources.source import Unavailable

# RFC 9110, section 14.4. No file is longer than these numbers, and Python limits the digits of an integer.
_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")


class Download:
    """A file that is being downloaded.

    fingerprint  by the validators of the origin; "" if it sent none, None before the first response
    """

    def __init__(self, name: str, file: FileIO, progress: Progress) -> None:
        self.fingerprint: str | None = None
        self._name, self._file, self._progress = name, file, progress
        self._reset()

    def _reset(self) -> None:
        self._received = 0  # bytes in the file
        self._content_length: int | None = None  # of the whole file, by the origin
        self._file_length: int | None = None  # of the whole file, by its own header
        self._beginning = bytearray()  # of the file, until its header is complete

    @property
    def resumable(self) -> int:
        """Number of bytes that need not be sent again: 0 without a strong entity tag, by which ranges match."""
        return self._received if is_strong(self.fingerprint or "") else 0

    @property
    def range_headers(self) -> dict[str, str]:
        """The request headers for the rest of an unchanged file, if resumable (RFC 9110, sections 13.1.5 and 14.2)."""
        return {"Range": f"bytes={self._received}-", "If-Range": f"{self.fingerprint}"} if self.resumable else {}

    async def receive_whole(self, response: ClientResponse) -> str:
        """Receive a whole file; return its fingerprint."""
        self._reset()
        self._file.seek(0)
        self._file.truncate()
        self.fingerprint = fingerprint(response.headers)
        self._content_length = response.content_length
        return await self._receive(response)

    async def receive_rest(self, response: ClientResponse) -> str:
        """Receive the rest; return the fingerprint. A response with another range discards what was received."""
        if not self._continues(response.headers):
            self._reset()
            raise Unavailable(f"{self._name}: the origin did not resume where the response was cut off")
        return await self._receive(response)

    def _continues(self, headers: Mapping[str, str]) -> bool:
        if (part := _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))) is None:
            return False
        start, length = part.groups()
        same_length = length == "*" or self._content_length in (None, int(length))
        return int(start) == self._received and same_length and headers.get("ETag") in (None, self.fingerprint)

    async def _receive(self, response: ClientResponse) -> str:
        """Write the body to the file. What aiohttp has buffered when the connection breaks, some 100 kB, is lost."""
        while piece := await self._piece(response):
            self._check_piece(piece)
            await run_to_end(_write, self._file, piece)
            self._received += len(piece)
            if self._file_length is not None:
                self._progress(f"Fetching {self._name}", self._received, self._file_length)
        if self._received < self._expected(response):
            raise Unavailable(f"{self._name}: the response was cut off")
        return self.fingerprint or ""

    async def _piece(self, response: ClientResponse) -> bytes:
        with unavailable(self._name):
            return await response.content.readany()

    def _check_piece(self, piece: bytes) -> None:
        """Raise `Rejected` as soon as the body cannot be a baked file, or is longer than its header says."""
        if self._file_length is None:
            self._beginning += piece
            try:
                self._file_length = expected_length(self._beginning)
            except DamagedFile as damage:
                raise self._rejected(f"{damage}") from damage
            if self._file_length is None:
                return
            self._beginning.clear()
            self._check_room(self._file_length)
        length = self._content_length if self._content_length is not None else self._received + len(piece)
        if length > self._file_length or self._content_length not in (None, self._file_length):
            sent = "more" if self._content_length is None else f"{length:,} bytes"
            raise self._rejected(f"the file has {self._file_length:,} bytes by its header, but the origin sends {sent}")

    def _rejected(self, why: str) -> Rejected:
        return Rejected(f"{self._name}: {why}", fingerprint=self.fingerprint or f"rejected: {why}")

    def _check_room(self, length: int) -> None:
        """Raise OSError if the disk has no room for the file, before filling it."""
        disk = os.fstatvfs(self._file.fileno())
        if length - self._received > disk.f_bavail * disk.f_frsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _expected(self, response: ClientResponse) -> int:
        """Return the least number of bytes of a whole body. Without framing, a broken connection looks like its end."""
        if self._content_length is not None:
            return self._content_length
        framed = "chunked" in response.headers.get("Transfer-Encoding", "")
        return 0 if framed else self._file_length or 0


def _write(file: FileIO, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]

"""A remote source: what is fetched through a transport, with further attempts and the last good copy."""

import asyncio
import errno
import logging
import os
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from service.background import Progress
from service.baking.layout import DamagedFile, expected_length
from service.dataset import Rejected
from service.publishing.cache_folder import LastGoodCopy
from service.publishing.object_store import SCHEMES
from service.publishing.source import Check, Fetched, Unavailable, run_to_end
from service.publishing.transport import CutOff, RemoteFile, Transport
from service.reading.diagnostics import FileError
from service.reading.files.file_names import Listing

# What a download leaves free of a disk, so that it takes no other program its room.
_RESERVE: Final = 1 << 28  # bytes
_RESERVE_SHARE: Final = 20  # of a small disk


async def receive(remote: RemoteFile, file: FileIO, progress: Callable[[int, int], None]) -> None:
    """Write the body, a baked file, into an empty file.

    Raises `DamagedFile` as soon as it cannot be a baked file, or has another length than in its header; `CutOff`,
    OSError.
    """
    beginning, received, length = bytearray(), 0, None
    while piece := await remote.read():
        received += len(piece)
        if length is None:
            beginning += piece
            if (length := expected_length(beginning)) is not None:
                _check_room(file, length)
        if length is not None and (received > length or remote.length not in (None, length)):
            sent = "more" if remote.length is None else f"{remote.length:,} bytes"
            raise DamagedFile(f"the file has {length:,} bytes by its header, but the origin sends {sent}")
        await run_to_end(_write, file, piece)
        if length is not None:
            progress(received, length)
    if not remote.is_framed and received < (length or 0):
        raise CutOff("the response was cut off")


async def receive_listed(
    remote: RemoteFile, file: FileIO, listing: Listing, progress: Callable[[int, int], None]
) -> None:
    """Write the body, a file with a checksum in a manifest, into an empty file.

    Nothing says how long it may be, but the disk must have room for it. Raises `CutOff` if it has another checksum: the
    file may be damaged in transit, or newer than the manifest; OSError.
    """
    digest, received = sha256(), 0
    if remote.length is not None:
        _check_room(file, remote.length)
    while piece := await remote.read():
        received += len(piece)
        await run_to_end(_write, file, piece)
        digest.update(piece)
        progress(received, max(received, remote.length or 0))
    try:
        listing.check_digest(digest.hexdigest())
    except FileError as error:
        raise CutOff(str(error)) from None


async def receive_whole(remote: RemoteFile, most: int) -> bytes:
    """Return the body. Raises `Unavailable` if it has more than so many bytes."""
    content = bytearray()
    while piece := await remote.read():
        content.extend(piece)
        if len(content) > most:
            raise Unavailable(f"the file has more than {most:,} bytes")
    return bytes(content)


def _check_room(file: FileIO, length: int) -> None:
    """Raise OSError if the disk has no room for so many bytes, before filling it."""
    disk = os.fstatvfs(file.fileno())
    reserve = min(_RESERVE, disk.f_blocks * disk.f_frsize // _RESERVE_SHARE)
    if length > disk.f_bavail * disk.f_frsize - reserve:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write(file: FileIO, piece: bytes) -> None:
    _check_room(file, len(piece))
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


# Pauses before further attempts, in seconds, each times a random part. After a longer outage the publisher fetches
# again.
PAUSES: Final = (1.0, 4.0)
_JITTER: Final = 0.5
_log = logging.getLogger(__name__)


class Damaged(Rejected):
    """A file is damaged, perhaps in transit."""


class RemoteSource(ABC):
    """What is at a URL, with its last good copy, a baked file, in a folder.

    The first fetch returns that copy, if there is one, so that a start does not wait for the origin. Raises ValueError
    for a URL of another scheme.
    """

    def __init__(self, url: str, cache: Path, transport: Transport, *, pauses: Sequence[float] = PAUSES) -> None:
        self.name = _name(url)
        self._transport, self._pauses = transport, pauses
        self._copy = LastGoodCopy(cache, url, name=self.name)
        self._started = False

    @property
    def watched(self) -> Sequence[Path]:
        """The folders to watch: none, as the origin can only be polled."""
        return ()

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch what the origin has, or the last good copy if nothing was fetched before; see `Source`."""
        started, self._started = self._started, True
        if not (started or known) and (copy := await self._fetch_copy(to, check)):
            return copy
        requested_at = datetime.now(UTC)
        fetched = await self._fetch_valid(to, known, progress)
        if fetched is None:
            await run_to_end(to.unlink, missing_ok=True)
            await run_to_end(self._copy.confirm, known, requested_at)
            return None
        try:
            check(fetched.summary.totals)
        except Rejected as rejected:
            raise Rejected.by(rejected.rejection, fingerprint=fetched.fingerprint) from None
        await run_to_end(self._copy.save, to, fetched.fingerprint, requested_at)
        return fetched

    async def _fetch_copy(self, to: Path, check: Check) -> Fetched | None:
        """Return the last good copy, if there is one that may be served."""
        copy = await run_to_end(self._copy.load, to)
        if copy is not None:
            try:
                check(copy.summary.totals)
            except Rejected as rejected:
                _log.warning("the cached copy is not served: %s", rejected)
                return None
        return copy

    async def _fetch_valid(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        """Return what the origin has, None if it is `known`; with further attempts if it breaks in transit."""
        try:
            for pause in self._pauses:
                with suppress(CutOff, Damaged):
                    return await self._attempt(to, known, progress)
                await asyncio.sleep(pause * random.uniform(1 - _JITTER, 1 + _JITTER))
            return await self._attempt(to, known, progress)
        except Rejected as rejected:
            if rejected.rejection.fingerprint != known:
                raise
            return None
        except Unavailable as error:
            raise Unavailable(f"{self.name}: {error}") from None
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}") from error

    @abstractmethod
    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        """Fetch once; see `Source`, but for `check`. Raises `CutOff` and `Damaged` if another attempt may succeed."""


def new_file(path: Path) -> FileIO:
    """Return a new file, open to be written."""
    path.unlink(missing_ok=True)  # a process may have it mapped
    path.touch(mode=0o600, exist_ok=False)
    return path.open("r+b", buffering=0)


def _name(url: str) -> str:
    """Return a URL without user, query and fragment, which may contain secrets, such as a signature."""
    try:
        scheme, host, path, _, _ = parts = urlsplit(url)
        is_valid = scheme in {"http", "https", *SCHEMES} and parts.hostname and parts.port != 0
    except ValueError:  # the message may quote a password
        is_valid = False
    if not is_valid:
        raise ValueError("it is not an http or https URL")
    return urlunsplit((scheme, host.rpartition("@")[2], path, "", ""))

"""The body of a response as it becomes a file: what cannot be the file is not received to its end, if possible."""

import errno
import os
from collections.abc import Callable
from hashlib import sha256
from io import FileIO
from typing import Final

from service.baking.layout import DamagedFile, expected_length
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.manifest import Listing
from service.sources.blocking import run_to_end
from service.sources.remote.transport import CutOff, RemoteFile
from service.sources.source import Unavailable

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
    content = b""
    while piece := await remote.read():
        content += piece
        if len(content) > most:
            raise Unavailable(f"the file has more than {most:,} bytes")
    return content


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

"""The body of a response as it becomes a baked file: what cannot be one is not received to its end."""

import errno
import os
from collections.abc import Callable
from io import FileIO

from service.baking.layout import DamagedFile, expected_length
from service.sources.blocking import run_to_end
from service.sources.transport import CutOff, RemoteFile


async def receive(remote: RemoteFile, file: FileIO, progress: Callable[[int, int], None]) -> None:
    """Write the body into an empty file.

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


def _check_room(file: FileIO, length: int) -> None:
    """Raise OSError if the disk has no room for the file, before filling it."""
    disk = os.fstatvfs(file.fileno())
    if length > disk.f_bavail * disk.f_frsize:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write(file: FileIO, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]

"""A transport: a request for a remote file, its response, and how its body is received."""

import errno
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from io import FileIO
from typing import Final, Protocol

import msgspec

from service.baking.layout import DamagedFile, expected_length
from service.publishing.source import Unavailable, run_to_end

# What a download leaves free of a disk, so that it takes no other program its room.
_RESERVE: Final = 1 << 28  # bytes
_RESERVE_SHARE: Final = 20  # of a small disk


class CutOff(Unavailable):
    """The body of a response ended early, or takes too long. Another attempt may succeed."""


class RemoteFile(msgspec.Struct, frozen=True):
    """A response with the whole file.

    fingerprint  by the validators of the origin; "" if it sent none
    length       of the body in bytes, if the origin sent it
    is_framed    whether the body has an end of its own, which a broken connection does not look like
    read         returns the next piece of the body, b"" at its end; raises `CutOff`
    """

    fingerprint: str
    length: int | None
    is_framed: bool
    read: Callable[[], Awaitable[bytes]]


class Transport(Protocol):
    """How a remote file is requested."""

    def get(self, known: str, name: str = "") -> AbstractAsyncContextManager[RemoteFile | None]:
        """Request the file at the URL, or one in the folder at the URL by its name; once.

        Return None if its fingerprint is still `known`. Raises `Unavailable`, without secrets.
        """


# An entity tag (RFC 9110, section 8.8.3), but ASCII only: not every library passes other bytes on unchanged. Bounded,
# as the name of the last good copy has the fingerprint.
_ENTITY_TAG: Final = re.compile(r'(W/)?"[!#-~]{0,100}"')
_LAST_MODIFIED: Final = "last-modified: "
_DATE: Final = re.compile(r"[ -~]{1,60}")


def fingerprint(headers: Mapping[str, str]) -> str:
    """Return the fingerprint in response headers: the entity tag, else Last-Modified, else ""."""
    tag, modified = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if _ENTITY_TAG.fullmatch(tag):
        return tag
    return _LAST_MODIFIED + modified if _DATE.fullmatch(modified) else ""


def conditions(known: str) -> dict[str, str]:
    """Return the request headers for a file unless its fingerprint is `known` (RFC 9110, section 13.1), if any."""
    if _ENTITY_TAG.fullmatch(known):
        return {"If-None-Match": known}
    modified = known.removeprefix(_LAST_MODIFIED)
    return {"If-Modified-Since": modified} if modified != known and _DATE.fullmatch(modified) else {}


async def receive(
    remote: RemoteFile, file: FileIO, progress: Callable[[int, int], None], *, is_baked: bool = False
) -> None:
    """Write the body into an empty file, if the disk has room for it.

    Raises `DamagedFile` as soon as it cannot be a baked file though it should be one, or has another length than in its
    header; `CutOff`, OSError.
    """
    beginning, received, length = bytearray(), 0, None if is_baked else remote.length
    _check_room(file, length or 0)
    while piece := await remote.read():
        received += len(piece)
        if is_baked and length is None:
            beginning += piece
            if (length := expected_length(beginning)) is not None:
                _check_room(file, length)
        if is_baked and length is not None and (received > length or remote.length not in (None, length)):
            sent = "more" if remote.length is None else f"{remote.length:,} bytes"
            raise DamagedFile(f"the file has {length:,} bytes by its header, but the origin sends {sent}")
        await run_to_end(_write, file, piece)
        progress(received, max(received, length or 0))
    if not remote.is_framed and received < (length or 0):
        raise CutOff("the response was cut off")


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
    remaining = memoryview(piece)
    while remaining:
        remaining = remaining[file.write(remaining) :]

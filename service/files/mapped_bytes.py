"""Bytes in a file that are read like those in memory."""

import os
from io import BufferedReader, RawIOBase
from mmap import mmap
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_AT_ONCE: Final = 1 << 20  # bytes counted at once
_LONGEST: Final = 64  # bytes that one may ask for at an end
_READ_AHEAD: Final = 1 << 16  # bytes


class MappedBytes(mmap):
    """A mapped file with those methods of `bytes` that it lacks; slices are copies."""

    def count(self, part: bytes, start: int, stop: int) -> int:
        """Return how often a part, which cannot overlap itself, is in a range."""
        ends = range(start, stop, _AT_ONCE)
        return sum(self[at : min(at + _AT_ONCE + len(part) - 1, stop)].count(part) for at in ends)

    def startswith(self, prefixes: bytes | tuple[bytes, ...], start: int = 0) -> bool:
        """Return whether the bytes from an offset start with one of some short prefixes."""
        return self[start : start + _LONGEST].startswith(prefixes)

    def endswith(self, suffixes: bytes | tuple[bytes, ...]) -> bool:
        """Return whether the bytes end with one of some short suffixes."""
        return self[-_LONGEST:].endswith(suffixes)


FileBytes: TypeAlias = bytes | MappedBytes


def open_bytes(content: FileBytes, start: int = 0) -> BufferedReader:
    """Return bytes from an offset on as a file, which does not copy them all."""
    reader = _Reader(content)
    reader.seek(start)
    return BufferedReader(reader, _READ_AHEAD)


class _Reader(RawIOBase):
    def __init__(self, content: FileBytes) -> None:
        self._view, self._offset = memoryview(content), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer)
        part = self._view[self._offset : self._offset + len(target)]
        target[: len(part)] = part
        self._offset += len(part)
        return len(part)

    def seek(self, offset: int, origin: int = os.SEEK_SET, /) -> int:
        self._offset = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: len(self._view)}[origin]
        return self._offset

"""Spools: bytes that are appended, then read: in memory while they are few, later in a file without a name.

The system removes such a file when nothing has it open or mapped: nothing is left of a process that is killed.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, TYPE_CHECKING, Final, TypeAlias
from weakref import finalize

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


MEMORY: Final = 1 << 30  # bytes
_SHARE: Final = 8  # of the memory, for one large array
_SPOOL_SHARE: Final = 1024  # of the memory, for one spool: there are some fifty at a time


class SpoolError(OSError):
    """A spool cannot be written, such as on a full disk: the file name is the folder."""


class Spools:
    """Makes spools with files in a folder, for work that may take some memory.

    in_memory  how many bytes a spool has in memory, at most
    share      the bytes that a temporary array may have where work can be done in parts
    """

    def __init__(self, folder: Path | None = None, memory: int = MEMORY) -> None:
        """Take the folder, or without one that of temporary files, and the memory in bytes."""
        self.folder = Path(gettempdir()) if folder is None else folder
        self.share, self.in_memory = memory // _SHARE, memory // _SPOOL_SHARE

    def new(self) -> "Spool":
        """Return an empty spool."""
        return Spool(self)

    def require(self, size: int) -> None:
        """Raise SpoolError if the folder has not so many bytes free, unless they are so few that memory may do."""
        if size > self.in_memory and (free := shutil.disk_usage(self.folder).free) < size:
            why = f"temporary files need about {size / 1e6:,.1f} MB here, and only {free / 1e6:,.1f} MB are free"
            raise SpoolError(errno.ENOSPC, why, str(self.folder))


class Spool:
    """Bytes in memory; of many, all but the last are in a file without a name."""

    def __init__(self, spools: Spools) -> None:
        self._spools, self._size, self._last = spools, 0, bytearray()
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._size

    def append(self, data: bytes | memoryview) -> None:
        """Append bytes. Raises SpoolError."""
        size = memoryview(data).nbytes
        if len(self._last) + size > self._spools.in_memory:
            self._write(data)
        else:
            self._last += data
        self._size += size

    def view(self) -> memoryview:
        """Return all bytes so far, which may be mapped from the file. Raises SpoolError."""
        return memoryview(self.content())

    def content(self) -> FileBytes:
        """Return what `view` is of."""
        if self._size <= self._spools.in_memory:
            return bytes(self._last)
        file = self._write()
        with self._errors():
            return MappedBytes(file.fileno(), self._size, access=ACCESS_READ)

    def _write(self, more: bytes | memoryview = b"") -> IO[bytes]:
        """Write the bytes in memory to the file, and more."""
        with self._errors():
            if self._file is None:
                self._file = TemporaryFile(dir=self._spools.folder)  # noqa: SIM115 - the finalizer closes it
                finalize(self, self._file.close)
            self._file.write(self._last)
            self._file.write(more)
            self._file.flush()
        self._last.clear()
        return self._file

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SpoolError(error.errno, error.strerror, str(self._spools.folder)) from None

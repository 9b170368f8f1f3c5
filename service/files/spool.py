"""Spools: bytes that are appended, then read: in memory while they are few, later in a file without a name.

The system removes such a file when nothing has it open or mapped: nothing is left of a process that is killed.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from typing import Final
from weakref import finalize

MEMORY: Final = 1 << 30  # bytes
_SHARE: Final = 8  # of the memory, for one large array
_SPOOL_SHARE: Final = 1024  # of the memory, for one spool: there are some fifty at a time


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


class Spool:
    """Bytes in memory, or in a file without a name."""

    def __init__(self, spools: Spools) -> None:
        self._spools, self._size = spools, 0
        self._file = SpooledTemporaryFile[bytes](spools.in_memory, dir=str(spools.folder))
        finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._size

    def append(self, data: bytes | memoryview) -> None:
        """Append bytes. Raises OSError, such as of a full disk, with the folder as the file name."""
        with self._errors():
            self._size += self._file.write(data)

    def view(self) -> memoryview:
        """Return all bytes so far, which may be mapped from the file. Raises OSError."""
        if self._size > self._spools.in_memory:
            with self._errors():
                self._file.flush()
                return memoryview(mmap.mmap(self._file.fileno(), self._size, access=mmap.ACCESS_READ))
        self._file.seek(0)
        return memoryview(self._file.read())

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._spools.folder)) from None

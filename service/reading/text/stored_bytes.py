"""Read the bytes of a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from service.files.mapped_bytes import FileBytes
from service.files.spool import SpoolError, Spools
from service.files.status import check_regular
from service.reading.batches.diagnostics import FileError

_CHUNK: Final = 1 << 20  # bytes


def read_stored(path: Path, *, what: str = "the file", most: int) -> bytes:
    """Return the first bytes of a regular file, at most so many. Raises FileError."""
    with _opened(path, what) as file:
        return file.read(most)


def copy_stored(path: Path, spools: Spools) -> FileBytes:
    """Return a copy of a regular file, in a spool if it is large. Raises FileError.

    The file itself is not mapped: it may be truncated meanwhile, and to read what is lost of a mapping kills a process.
    """
    copy = spools.new()
    with _opened(path, "the file") as file:
        while chunk := file.read(_CHUNK):
            copy.append(chunk)
    return copy.content()


def reason(error: Exception) -> str:
    """Return why a file or folder cannot be read, without its path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def _opened(path: Path, what: str) -> Iterator[BinaryIO]:
    try:
        check_regular(path.stat())
        with path.open("rb") as file:
            yield file
    except SpoolError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{what} cannot be read: {reason(error)}") from None

"""Read the bytes of a file."""

from pathlib import Path

from service.files.status import check_regular
from service.reading.diagnostics import FileError


def read_stored(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises FileError."""
    try:
        check_regular(path.stat())
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise FileError(f"the file cannot be read: {reason(error)}") from None


def reason(error: Exception) -> str:
    """Return why a file or folder cannot be read, without its path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

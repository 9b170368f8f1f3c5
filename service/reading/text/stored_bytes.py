"""Read the bytes of a file."""

from pathlib import Path

from service.files.status import check_regular
from service.reading.batches.diagnostics import FileError


def read_stored(path: Path, *, what: str = "the file", most: int | None = None) -> bytes:
    """Return the bytes of a regular file, the first `most` of a longer one. Raises FileError."""
    try:
        check_regular(path.stat())
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        raise FileError(f"{what} cannot be read: {reason(error)}") from None


def reason(error: Exception) -> str:
    """Return why a file or folder cannot be read, without its path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

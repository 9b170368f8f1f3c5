"""Which source a text means."""

from pathlib import Path
from typing import Final

from service.loading.acceptance import Invalid
from service.source.file import FileSource
from service.source.folder import FolderSource
from service.source.source import Source

_SCHEMES: Final = ("http://", "https://")


def choose_source(data: str, *, invalid: Invalid, cache: Path) -> Source:
    """Return the source that a text means: a URL, a baked file, or else a folder. Raises ValueError for a bad URL."""
    if data.lower().startswith(_SCHEMES):
        from service.source.remote import RemoteSource  # noqa: PLC0415 - its libraries take 0.1 s to import

        return RemoteSource(data, cache / "origins")
    path = Path(data)
    return FileSource(path) if _is_file(path) else FolderSource(path, invalid=invalid)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # of a name that is too long, say: reading it as a folder tells so
        return False

"""Which source a text means."""

import re
from pathlib import Path
from typing import Final

from service.loading.acceptance import InvalidRecords
from service.loading.folder_signature import is_file
from service.sources.baked_file_source import BakedFileSource
from service.sources.folder_source import FolderSource
from service.sources.source import Source

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://.*", re.IGNORECASE | re.DOTALL)
_SCHEMES: Final = ("http", "https")


def choose_source(data: str, *, invalid: InvalidRecords, compile_timeout: float, cache: Path) -> Source:
    """Return the source that a text means: a URL, a baked file, or else a folder.

    Raises ValueError for a URL that cannot be fetched, without quoting it: it may hold a password.
    """
    if url := _URL.fullmatch(data):
        _check(url["scheme"].lower())
        from service.sources.url_source import UrlSource  # noqa: PLC0415 - its libraries take 0.1 s to import

        return UrlSource(data, cache / "origins")
    path = Path(data)
    return BakedFileSource(path) if is_file(path) else FolderSource(path, invalid=invalid, timeout=compile_timeout)


def _check(scheme: str) -> None:
    if scheme in _SCHEMES:
        return
    what_to_do = "give the path alone" if scheme == "file" else "copy the data to this machine and give its path"
    raise ValueError(f"{scheme}:// is not supported: {what_to_do}, or give the http:// or https:// URL of a baked file")

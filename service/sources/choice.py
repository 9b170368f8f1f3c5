"""The choice of the source for the value of `--data`."""

import re
from pathlib import Path
from typing import Final

from service.loading.acceptance import InvalidRecords
from service.reading.folder_signature import is_file
from service.sources.baked_file_source import BakedFileSource
from service.sources.folder_source import FolderSource
from service.sources.source import Source

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://.*", re.IGNORECASE | re.DOTALL)
_SCHEMES: Final = ("http", "https")


def choose_source(data: str, *, invalid: InvalidRecords, compile_timeout: float, cache: Path) -> Source:
    """Return the source for a URL, a baked file or else a folder.

    Raises ValueError for a URL that cannot be fetched, without quoting it: it may contain a password.
    """
    if url := _URL.fullmatch(data):
        if (scheme := url["scheme"].lower()) not in _SCHEMES:
            remedy = "give the path alone" if scheme == "file" else "copy the data to this machine and give its path"
            accepted = "the http:// or https:// URL of a baked file"
            raise ValueError(f"{scheme}:// is not supported: {remedy}, or give {accepted}")
        from service.sources.url_source import UrlSource  # noqa: PLC0415 - its libraries take 0.1 s to import

        return UrlSource(data, cache / "origins")
    path = Path(data)
    return BakedFileSource(path) if is_file(path) else FolderSource(path, invalid=invalid, timeout=compile_timeout)

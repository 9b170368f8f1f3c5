"""The choice of the source for the value of `--data`."""

import re
from pathlib import Path
from typing import Final

from service.baking.layout import BEGINNING, looks_baked
from service.read_options import AS_FOUND, ReadOptions
from service.reading.file_set.data_signature import is_file
from service.reading.file_set.file_names import holds_data
from service.safeguards import InvalidRecords
from service.sources.bake_first import bake_first
from service.sources.baked_file_source import BakedFileSource
from service.sources.folder_source import FolderSource
from service.sources.source import Source

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://[^/?#]*(?P<path>[^?#]*).*", re.IGNORECASE | re.DOTALL)
_SCHEMES: Final = ("http", "https")


def choose_source(
    data: str, *, invalid: InvalidRecords, compile_timeout: float, cache: Path, options: ReadOptions = AS_FOUND
) -> Source:
    """Return the source for a URL, a baked file, or else data files: a folder, an archive or a single one.

    Raises ValueError for a URL that cannot be fetched or is that of a data file, by its name; the message has no
    password or query. Raises it also for options that say how to read data files, if there are none.
    """
    url, path = _URL.fullmatch(data), Path(data)
    if url:
        _check_url(url, options)
    elif not is_baked(path):
        return FolderSource(path, invalid=invalid, timeout=compile_timeout, options=options)
    check_unread(options)
    if url:
        from service.sources.http_transport import HttpTransport  # noqa: PLC0415 - its libraries take 0.1 s to import
        from service.sources.remote_source import RemoteSource  # noqa: PLC0415 - as above

        return RemoteSource(data, cache / "origins", HttpTransport(data))
    return BakedFileSource(path)


def _check_url(url: re.Match[str], options: ReadOptions) -> None:
    """Raise ValueError for another scheme, and for the URL of a data file, by its name."""
    if (scheme := url["scheme"].lower()) not in _SCHEMES:
        remedy = "give the path alone" if scheme == "file" else "copy the data to this machine and give its path"
        accepted = "the http:// or https:// URL of a baked file"
        raise ValueError(f"{scheme}:// is not supported: {remedy}, or give {accepted}")
    if holds_data(path := Path(url["path"])):
        raise ValueError(bake_first(path.name, options))


def check_unread(options: ReadOptions) -> None:
    """Raise `ValueError` for options that say how to read data files, which a baked file is not."""
    if options != AS_FOUND:
        raise ValueError("a baked file has been read already: --mapping and --encoding are for data files")


def is_baked(path: Path) -> bool:
    """Return whether a file is a baked one: by its first bytes, or because its name is not that of a data file."""
    if not is_file(path):
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
    except OSError:
        beginning = b""
    return looks_baked(beginning) or not holds_data(path)

"""The choice of the source for the value of `--data`."""

import re
from pathlib import Path
from typing import Final

from service.baking.layout import BEGINNING, PACKED, looks_baked
from service.dataset import AS_FOUND, ReadOptions
from service.publishing.local_source import BakedFileSource, FolderSource
from service.publishing.object_store import SCHEMES
from service.publishing.source import Source, bake_first
from service.reading.files.container import is_file
from service.reading.files.file_names import MANIFEST, holds_data
from service.settings import Settings

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://[^/?#]*(?P<path>[^?#]*).*", re.IGNORECASE | re.DOTALL)


def choose_source(data: str, settings: Settings, cache: Path) -> Source:
    """Return the source for a URL, a baked file, or else data files: a folder, an archive or a single one.

    A URL that ends with a slash, or with the name of the manifest, is that of a folder. Raises ValueError for a URL
    that cannot be fetched or is that of a data file, by its name; the message has no password or query. Raises it also
    for options that say how to read data files, if there are none, and for what cannot be mapped in place.
    """
    path, options, url = Path(data), settings.read_options, _URL.fullmatch(data)
    baked = not url and is_baked(path)
    if settings.no_copy and (path.suffix == PACKED or not baked):
        raise ValueError(
            "--no-copy is for a baked file on this machine, which this is not; of other data the service makes a file"
        )
    if options.places and (url or baked):
        raise ValueError("--places is for data files; of another source, bake it with --places")
    if not url:
        if not baked:
            return FolderSource(path, settings)
        check_unread(options)
        return BakedFileSource(path, cache / "verified", in_place=settings.no_copy)
    if (scheme := url["scheme"].lower()) not in ("http", "https", *SCHEMES):
        remedy = "give the path alone" if scheme == "file" else "copy the data to this machine and give its path"
        accepted = "a URL with http, https, s3, gs or az"
        raise ValueError(f"{scheme}:// is not supported: {remedy}, or give {accepted}")
    folder, origins, file = _folder(url), cache / "origins", Path(url["path"])
    if folder is None and holds_data(file):
        raise ValueError(bake_first(file.name, options))
    from service.publishing.remote_source import RemoteBakedFile, RemoteFolder  # noqa: PLC0415 - 0.1 s to import
    from service.publishing.transport import open_transport  # noqa: PLC0415 - as above

    if folder is None:
        check_unread(options)
        return RemoteBakedFile(data, origins, open_transport(data))
    return RemoteFolder(folder, origins, open_transport(folder), settings)


def _folder(url: re.Match[str]) -> str | None:
    """Return the URL of a folder, with a slash at the end of its path; None if it is that of a file."""
    folder, _, name = url["path"].rpartition("/")
    if name not in ("", MANIFEST):
        return None
    return f"{url.string[: url.start('path')]}{folder}/{url.string[url.end('path') :]}"


def check_unread(options: ReadOptions) -> None:
    """Raise `ValueError` for options that say how to read data files, which a baked file is not."""
    if options != AS_FOUND:
        raise ValueError("a baked file has been read already: --mapping and --encoding are for data files")


def holds_baked(data: str) -> bool:
    """Return whether the value of `--data` is a baked file, or a URL that is not that of a folder."""
    url = _URL.fullmatch(data)
    return _folder(url) is None if url else is_baked(Path(data))


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

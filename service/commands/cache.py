"""The folder for what the service keeps beside its data: compiled data, and the last good copy of a URL."""

import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


class NoCache(Exception):
    """There is no folder to keep compiled data in; the message says why."""


def cache_folder(given: str) -> Path:
    """Return the folder, made if need be: the given one, else the user's cache, else a temporary one.

    Raises `NoCache` where it cannot be made or written to.
    """
    try:
        return _made(Path(given)) if given else _default()
    except OSError as error:
        raise NoCache(f"{error.filename}: compiled data cannot be kept there: {error.strerror}") from error


def _default() -> Path:
    folder = user_cache_path("store-directory", appauthor=False)
    try:
        if folder.is_absolute():  # it is not where the user has no home
            return _made(folder)
    except OSError:  # as where all but the temporary folders is read-only
        pass
    folder = _made(Path(tempfile.gettempdir()) / f"store-directory-{os.getuid()}")
    if folder.lstat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to somebody else", str(folder))
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(1, "it cannot be written to", str(folder))
    return folder

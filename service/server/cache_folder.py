"""The cache folder: compiled data, the last good copies of URLs, and which files were verified."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

from service.snapshot.workspace import Workspace, workspace


class NoCache(Exception):
    """No cache folder can be created or written to. The message says why, and what to do."""

    def __init__(self, *failures: OSError) -> None:
        reasons = (": ".join(filter(None, (error.filename, error.strerror))) for error in failures)
        hint = "choose another folder with --cache DIR or STORE_DIRECTORY_CACHE"
        super().__init__(f"cannot create a folder for compiled data: {'; '.join(reasons)}; {hint}")


def cache_folder(chosen: str) -> Path:
    """Return the cache folder, created if necessary: the chosen one, else the user's, else a temporary one.

    Raises `NoCache` if it cannot be created or written to.
    """
    failures = []
    for create in (partial(_create, Path(chosen)),) if chosen else (_user_cache, _temporary_cache):
        try:
            return create()
        except OSError as error:
            failures.append(error)
    raise NoCache(*failures)


@contextmanager
def run_workspace(cache: Path) -> Iterator[Workspace]:
    """Create the workspace of this run in the cache folder. Raises `NoCache` if that fails."""
    with ExitStack() as held:
        try:
            work = held.enter_context(workspace(cache / "runs"))
        except OSError as error:
            raise NoCache(error) from error
        yield work


def _user_cache() -> Path:
    folder = user_cache_path("store-directory", appauthor=False)
    if not folder.is_absolute():
        raise FileNotFoundError(0, "the user has no home folder, and XDG_CACHE_HOME is not set")
    return _create(folder)


def _temporary_cache() -> Path:
    try:
        parent = tempfile.gettempdir()
    except FileNotFoundError as error:  # its own message lists all folders that were tried
        raise FileNotFoundError(error.errno, "no temporary folder is writable (set TMPDIR)") from error
    folder = _create(Path(parent) / f"store-directory-{os.getuid()}")
    if folder.lstat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to another user", str(folder))
    return folder


def _create(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(1, "it exists and is not a folder", str(folder)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(1, "it is not writable", str(folder))
    return folder

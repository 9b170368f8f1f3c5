"""The folder for what the service keeps beside its data: compiled data, and the last good copy of a URL."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

from service.snapshot.run_folders import workspace
from service.snapshot.workspace import Workspace


class NoCache(Exception):
    """There is no folder to keep compiled data in; the message says why, and what to do."""

    def __init__(self, *failures: OSError) -> None:
        reasons = (": ".join(filter(None, (error.filename, error.strerror))) for error in failures)
        hint = "--cache DIR or STORE_DIRECTORY_CACHE names another folder"
        super().__init__(f"no folder for compiled data can be made: {'; '.join(reasons)}; {hint}")


def cache_folder(given: str) -> Path:
    """Return the folder, made if need be: the given one, else the user's cache, else a temporary one.

    Raises `NoCache` where it cannot be made or written to.
    """
    failures = []
    for make in (partial(_made, Path(given)),) if given else (_of_user, _temporary):
        try:
            return make()
        except OSError as error:
            failures.append(error)
    raise NoCache(*failures)


@contextmanager
def run_workspace(cache: Path) -> Iterator[Workspace]:
    """Keep the workspace of this run in the folder for compiled data. Raises `NoCache` where it cannot be made."""
    with ExitStack() as held:
        try:
            work = held.enter_context(workspace(cache / "runs"))
        except OSError as error:
            raise NoCache(error) from error
        yield work


def _of_user() -> Path:
    folder = user_cache_path("store-directory", appauthor=False)
    if not folder.is_absolute():
        raise FileNotFoundError(0, "the user has no home folder, and XDG_CACHE_HOME is not set")
    return _made(folder)


def _temporary() -> Path:
    try:
        above = tempfile.gettempdir()
    except FileNotFoundError as error:  # whose message lists all folders that were tried
        raise FileNotFoundError(error.errno, "no temporary folder can be written to (TMPDIR names one)") from error
    folder = _made(Path(above) / f"store-directory-{os.getuid()}")
    if folder.lstat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to another user", str(folder))
    return folder


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(1, "it is there and is no folder", str(folder)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(1, "it cannot be written to", str(folder))
    return folder

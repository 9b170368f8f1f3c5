"""The cache folder, and the last good copies of URLs in it."""

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from platformdirs import user_cache_path

from service.baking.layout import DamagedFile
from service.files import temporary_files
from service.publishing.source import Fetched
from service.publishing.workspace import Workspace, workspace


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


_log = logging.getLogger(__name__)


class LastGoodCopy:
    """The last good copy of one URL. Errors are logged and otherwise ignored."""

    def __init__(self, folder: Path, url: str, *, name: str) -> None:
        self._folder, self._name = folder, name
        self._key = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._saved: tuple[Path, str] | None = None  # the file that was saved last, and its fingerprint
        self._failing = False

    def load(self, to: Path) -> Fetched | None:
        """Link the copy to a path and return what it is; None if there is no valid copy."""
        try:
            for modified, copy in self._copies():
                try:
                    if (loaded := _load(copy, to, modified)) is not None:
                        return loaded
                except DamagedFile as damage:
                    _log.warning("%s: the cached copy is discarded: %s", self._name, damage)
                    with self._logged_errors():
                        copy.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s: the cached copy cannot be read: %s", self._name, error.strerror)
        return None

    def save(self, file: Path, fingerprint: str, confirmed_at: datetime) -> None:
        """Save a verified file as the copy; if that fails, the next confirmation tries again."""
        self._saved = file, fingerprint
        with self._logged_errors():
            self._save(file, fingerprint, confirmed_at)

    def confirm(self, fingerprint: str, confirmed_at: datetime) -> None:
        """Record that the origin still holds the copy."""
        with self._logged_errors():
            try:
                _set_modified(self._file(fingerprint), confirmed_at)
            except FileNotFoundError:
                if self._saved and self._saved[1] == fingerprint and self._saved[0].exists():
                    self._save(*self._saved, confirmed_at)

    @contextmanager
    def _logged_errors(self) -> Iterator[None]:
        """Log a failed write to the cache; once, until a write succeeds."""
        try:
            yield
        except OSError as error:
            if not self._failing:
                _log.warning("%s: the last good copy cannot be saved: %s", self._name, error.strerror)
            self._failing = True
        else:
            self._failing = False

    def _file(self, fingerprint: str) -> Path:
        return self._folder / f"{self._key}.{fingerprint.encode().hex()}.baked"

    def _copies(self) -> list[tuple[float, Path]]:
        """Return all copies with their times, the latest first."""
        copies = []
        for path in self._folder.glob(f"{self._key}.*.baked"):
            with suppress(FileNotFoundError):  # another process has renewed it just now
                copies.append((path.stat().st_mtime, path))
        return sorted(copies, reverse=True)

    def _save(self, file: Path, fingerprint: str, confirmed_at: datetime) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy, temporary = self._file(fingerprint), self._folder / f".{self._key}.{token_hex(8)}.part"
        try:
            _link(file, temporary)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            _set_modified(temporary, confirmed_at)
            temporary.replace(copy)
        finally:
            temporary.unlink(missing_ok=True)  # a link to the same file is not renamed
        self._sweep(copy, confirmed_at.timestamp())

    def _sweep(self, saved: Path, confirmed: float) -> None:
        """Remove earlier copies, those of a wrong clock or an earlier version, and what killed processes left."""
        ages = [(path, confirmed) for path in self._folder.glob(f"{self._key}*") if path != saved]
        # A temporary file is renamed at once, so one of an hour was left behind.
        ages += [(path, time.time() - 3600) for path in temporary_files(self._folder, self._key)]
        for path, earliest in ages:
            with suppress(FileNotFoundError):
                if not earliest <= path.stat().st_mtime <= time.time():
                    path.unlink()


def _load(copy: Path, to: Path, modified: float) -> Fetched | None:
    """Link a copy to a path; None if it has just been removed. Raises `DamagedFile`."""
    from service.baking.baked_file import read_baked  # noqa: PLC0415 - only what is remote has copies

    to.unlink(missing_ok=True)
    try:
        fingerprint = bytes.fromhex(copy.name.split(".")[1]).decode()
        _link(copy, to)
    except ValueError:
        raise DamagedFile("its name has no fingerprint") from None
    except FileNotFoundError:
        if copy.exists():
            raise
        return None
    summary = read_baked(to).summary
    return Fetched(fingerprint=fingerprint, summary=summary, confirmed_at=datetime.fromtimestamp(modified, UTC))


def _set_modified(file: Path, moment: datetime) -> None:
    os.utime(file, (moment.timestamp(), moment.timestamp()))


def _link(file: Path, to: Path) -> None:
    """Hard-link a file, or copy it if it cannot be linked."""
    try:
        to.hardlink_to(file)
    except OSError:
        with file.open("rb") as content:
            to.touch(mode=0o600, exist_ok=False)
            with to.open("wb") as copied:
                shutil.copyfileobj(content, copied)

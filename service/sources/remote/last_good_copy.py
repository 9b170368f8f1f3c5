"""The last good copy of a remote file, so that the service can start while the origin is down.

The folder has one file for each URL, KEY.FINGERPRINT.baked: a digest, as a URL may contain secrets, and the fingerprint
in hexadecimal digits. Its time of modification is when the origin last held this content. Processes may renew a copy
concurrently, and be killed: of several files the latest counts, and the next process that saves one removes the others.
"""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Final

from service.baking.baked_file import read_baked
from service.baking.layout import DamagedFile
from service.files.atomic_write import temporary_files
from service.sources.source import Fetched

_ORPHANED_SECONDS: Final = 3600  # a temporary file is renamed at once, so an older one was left behind
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
        ages += [(path, time.time() - _ORPHANED_SECONDS) for path in temporary_files(self._folder, self._key)]
        for path, earliest in ages:
            with suppress(FileNotFoundError):
                if not earliest <= path.stat().st_mtime <= time.time():
                    path.unlink()


def _load(copy: Path, to: Path, modified: float) -> Fetched | None:
    """Link a copy to a path; None if it has just been removed. Raises `DamagedFile`."""
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

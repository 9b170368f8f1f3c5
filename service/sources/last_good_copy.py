"""The last good copy of a remote file, so that the service can start while the origin is down.

The folder has for each URL:

    KEY.json         the entry: metadata and the file name of the copy; replaced atomically
    KEY.TOKEN.baked  the copy, under a new name each time

KEY is a digest, as a URL may contain secrets. Several processes may renew one entry concurrently; the last one wins.
Files of killed processes are removed later.
"""

import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Final

import msgspec

from service.baking.baked_file import read_baked
from service.baking.layout import DamagedFile
from service.files.atomic_write import atomic_write, temporary_files

_ORPHANED_SECONDS: Final = 3600  # a copy gets its entry at once, so an older one without an entry was left behind

_log = logging.getLogger(__name__)


class CopyEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The metadata of a copy.

    url           of the origin, without secrets
    file          name in the folder
    fingerprint   by the validators of the origin
    confirmed_at  when the origin last held this content
    """

    url: str
    file: str
    fingerprint: str
    confirmed_at: Annotated[datetime, msgspec.Meta(tz=True)]


class LastGoodCopy:
    """The last good copy of one URL. Errors are logged and otherwise ignored."""

    def __init__(self, folder: Path, url: str, *, name: str) -> None:
        self._folder, self._name = folder, name
        self._key = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        self._entry = folder / f"{self._key}.json"
        self._failing = False

    def load(self, to: Path) -> CopyEntry | None:
        """Link the copy to a path and return its entry; None if there is no valid copy."""
        try:
            while (entry := self._read()) is not None:
                if self._link_valid(entry, to):
                    return entry
        except DamagedFile as damage:
            _log.warning("%s: the cached copy is discarded: %s", self._name, damage)
            with self._logged_errors():
                self._discard()
        except OSError as error:
            _log.warning("%s: the cached copy cannot be read: %s", self._name, error.strerror)
        return None

    def save(self, file: Path, *, fingerprint: str, confirmed_at: datetime) -> bool:
        """Save a verified file as the copy; return whether that succeeded."""
        copy = self._folder / f"{self._key}.{token_hex(8)}.baked"
        with self._logged_errors():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replaced = self._read_valid()
            try:
                _link(file, copy)
                with copy.open("rb") as written:
                    os.fsync(written.fileno())
                self._write(CopyEntry(self._name, copy.name, fingerprint, confirmed_at))
            except OSError:
                copy.unlink(missing_ok=True)
                raise
            self._sweep(copy.name, replaced.file if replaced else None)
        return not self._failing

    def confirm(self, fingerprint: str, confirmed_at: datetime) -> None:
        """Record that the origin still holds the copy.

        If another process renews the entry between our read and write, ours wins, and its copy is lost until the
        next fetch.
        """
        try:
            entry = self._read_valid()
        except OSError:
            return
        if entry is not None and entry.fingerprint == fingerprint:
            with self._logged_errors():
                self._write(msgspec.structs.replace(entry, confirmed_at=confirmed_at))

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

    def _link_valid(self, entry: CopyEntry, to: Path) -> bool:
        """Return whether the copy was still there. Raises DamagedFile if it is invalid."""
        copy = self._folder / entry.file
        to.unlink(missing_ok=True)
        try:
            _link(copy, to)
        except FileNotFoundError:
            if copy.exists():
                raise
            if self._read() == entry:
                raise DamagedFile("its file is missing") from None
            return False  # another process has renewed it just now
        read_baked(to)
        return True

    def _read(self) -> CopyEntry | None:
        """Return the entry, if any. Raises DamagedFile if it is invalid or of another URL."""
        try:
            entry = msgspec.json.decode(self._entry.read_bytes(), type=CopyEntry)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise DamagedFile("its entry is damaged") from None
        if entry.url != self._name or not re.fullmatch(rf"{self._key}\.[0-9a-f]{{16}}\.baked", entry.file):
            raise DamagedFile("its entry is of another file")
        return entry

    def _read_valid(self) -> CopyEntry | None:
        with suppress(DamagedFile):
            return self._read()
        return None

    def _write(self, entry: CopyEntry) -> None:
        with atomic_write(self._entry, mode=0o600) as file:
            file.write(msgspec.json.encode(entry))

    def _discard(self) -> None:
        entry = self._read_valid()
        self._entry.unlink(missing_ok=True)
        for copy in self._folder.glob(f"{self._key}.*.baked"):  # never remove a path read from a file; compare names
            if entry is not None and copy.name == entry.file:
                copy.unlink(missing_ok=True)

    def _sweep(self, current: str, replaced: str | None) -> None:
        """Remove the replaced copy, and files that killed processes left."""
        for path in (*self._folder.glob(f"{self._key}.*"), *temporary_files(self._folder, self._entry.name)):
            if path.name not in (current, self._entry.name):
                with suppress(FileNotFoundError):
                    if path.name == replaced or path.stat().st_mtime < time.time() - _ORPHANED_SECONDS:
                        path.unlink()


def _link(file: Path, to: Path) -> None:
    """Hard-link a file, or copy it if it cannot be linked."""
    try:
        to.hardlink_to(file)
    except OSError:
        with file.open("rb") as content:
            to.touch(mode=0o600, exist_ok=False)
            with to.open("wb") as copied:
                shutil.copyfileobj(content, copied)

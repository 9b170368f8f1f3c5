"""The last good copy of a remote file, so that a service starts without its origin.

For each address there are in the folder, beside what a killed process left:

    KEY.json         what is known of the copy, and its name; whoever renames this into place has renewed the copy
    KEY.TOKEN.baked  the copy, under another name each time

KEY is a digest, as an address may hold secrets. Several processes may renew one entry at once: each leaves it whole,
the last one's stands.
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

_OLD: Final = 3600  # seconds; nobody takes that long from a copy's last byte to its entry, so it was left behind

_log = logging.getLogger(__name__)


class CopyEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a copy.

    url           its address, without secrets
    file          its name in the folder
    fingerprint   what the origin told it by
    confirmed_at  when the origin was last asked and held this
    """

    url: str
    file: str
    fingerprint: str
    confirmed_at: Annotated[datetime, msgspec.Meta(tz=True)]


class LastGoodCopy:
    """The last good copy of one address. What goes wrong with it is told in the log and stops nobody."""

    def __init__(self, folder: Path, url: str, *, name: str) -> None:
        self._folder, self._name = folder, name
        self._key = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        self._entry = folder / f"{self._key}.json"
        self._troubled = False

    def load(self, to: Path) -> CopyEntry | None:
        """Link the copy to a path and return what is known of it; None where there is none that is sound."""
        try:
            while (entry := self._read()) is not None:
                if self._load(entry, to):
                    return entry
        except DamagedFile as damage:
            _log.warning("%s: the copy in the cache is dropped: %s", self._name, damage)
            with self._telling():
                self._drop()
        except OSError as error:
            _log.warning("%s: the copy in the cache cannot be read: %s", self._name, error.strerror)
        return None

    def keep(self, file: Path, *, fingerprint: str, confirmed_at: datetime) -> bool:
        """Let a file, checked, be the copy; return whether it is."""
        copy = self._folder / f"{self._key}.{token_hex(8)}.baked"
        with self._telling():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replaced = self._known()
            try:
                _link(file, copy)
                _sync(copy)
                self._write(CopyEntry(self._name, copy.name, fingerprint, confirmed_at))
            except OSError:
                copy.unlink(missing_ok=True)
                raise
            self._sweep(copy.name, replaced.file if replaced else None)
        return not self._troubled

    def confirm(self, fingerprint: str, confirmed_at: datetime) -> None:
        """Note that the origin still holds the copy.

        Where another process renews the entry between our reading and writing it, the copy is lost until we, whose
        file is older, take the new one too.
        """
        try:
            entry = self._known()
        except OSError:
            return
        if entry is not None and entry.fingerprint == fingerprint:
            with self._telling():
                self._write(msgspec.structs.replace(entry, confirmed_at=confirmed_at))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell once that the cache cannot be written, until it can be again."""
        try:
            yield
        except OSError as error:
            if not self._troubled:
                _log.warning("%s: the last good copy cannot be kept: %s", self._name, error.strerror)
            self._troubled = True
        else:
            self._troubled = False

    def _load(self, entry: CopyEntry, to: Path) -> bool:
        """Say whether the copy was still there; raise DamagedFile where it is not sound."""
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
        """Return the entry; None where there is none. Raises DamagedFile where it is none of ours."""
        try:
            entry = msgspec.json.decode(self._entry.read_bytes(), type=CopyEntry)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise DamagedFile("its entry is damaged") from None
        if entry.url != self._name or not re.fullmatch(rf"{self._key}\.[0-9a-f]{{16}}\.baked", entry.file):
            raise DamagedFile("its entry is of another file")
        return entry

    def _known(self) -> CopyEntry | None:
        with suppress(DamagedFile):
            return self._read()
        return None

    def _write(self, entry: CopyEntry) -> None:
        with atomic_write(self._entry, mode=0o600) as file:
            file.write(msgspec.json.encode(entry))

    def _drop(self) -> None:
        entry = self._known()
        self._entry.unlink(missing_ok=True)
        for copy in self._folder.glob(f"{self._key}.*.baked"):  # a name from a file is never removed, but compared
            if entry is not None and copy.name == entry.file:
                copy.unlink(missing_ok=True)

    def _sweep(self, kept: str, replaced: str | None) -> None:
        """Remove the copy that was replaced, and what killed processes left a while ago."""
        for path in (*self._folder.glob(f"{self._key}.*"), *temporary_files(self._folder, self._entry.name)):
            if path.name not in (kept, self._entry.name):
                with suppress(FileNotFoundError):
                    if path.name == replaced or path.stat().st_mtime < time.time() - _OLD:
                        path.unlink()


def _link(file: Path, to: Path) -> None:
    """Give a file another name, or copy it where that cannot be."""
    try:
        to.hardlink_to(file)
    except OSError:
        with file.open("rb") as content:
            to.touch(mode=0o600, exist_ok=False)
            with to.open("wb") as copied:
                shutil.copyfileobj(content, copied)


def _sync(file: Path) -> None:
    with file.open("rb") as written:
        os.fsync(written.fileno())

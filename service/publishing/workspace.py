"""The folder that the processes of one run share. Each run creates one, and removes it at its end.

leader            locked by the process that fetches the source
publication.json  the publication
*.baked           the published data, unless it is in place, and data sets that are being downloaded
*.download        data files that are being downloaded and compiled
access-log        locked by the process that writes to the access log
slot-N            the slot of a worker
complete          exists once all workers had data at the same time
rejection.json    why there is nothing to serve
keys.json         the backup of the key file
listening, ready  exist once a process has printed that line
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Annotated, Final

import msgspec

from service.dataset import Rejected, Rejection, Summary
from service.files import Signature, atomic_write, is_locked, lock, temporary_files, try_lock
from service.publishing.worker_slots import WorkerSlots

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Reload(msgspec.Struct, frozen=True):
    """An attempt to load the data: when, whether it succeeded, else the error."""

    at: Moment
    ok: bool
    error: str | None = None


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """The data to serve, and the outcome of the last attempt to renew it.

    generation    number of the data set in the run, from 1; 0 is none
    file          name of its baked file, or the path of one in place
    signature     of a baked file in place: another file that has its path by now was not verified
    summary       of the data
    modified      time of the data, if it may be given as Last-Modified: see `last_modified`
    latest        latest time of any data of the run, except times in the future
    fingerprint   of the source when it held this data
    known         fingerprint of the source at the last attempt; differs while the source holds refused data
    loaded_at     when the data was loaded
    confirmed_at  when the source last held this data
    """

    generation: int = 0
    file: str = ""
    signature: Signature | None = None
    summary: Summary | None = None
    modified: Moment | None = None
    latest: Moment | None = None
    fingerprint: str = ""
    known: str = ""
    loaded_at: Moment | None = None
    confirmed_at: Moment | None = None
    last_reload: Reload | None = None


def last_modified(last: Publication, new: Summary, now: datetime) -> datetime | None:
    """Return the Last-Modified of new data, or None if it could mislead a client.

    HTTP dates have whole seconds. If earlier data of the run had the same second or a later one, a client that compares
    dates would keep it (RFC 9110, section 8.8.2.2). Times in the future are not given either.
    """
    generated_at = new.generated_at
    if generated_at is None or generated_at > now:
        return None
    before = last.summary
    if before is not None and (before.version, before.generated_at) == (new.version, generated_at):
        return last.modified
    return generated_at if last.latest is None or generated_at - last.latest >= timedelta(seconds=1) else None


_PUBLICATION: Final = "publication.json"
_REJECTION: Final = "rejection.json"
# The names of `tempfile`. Nothing else is ever removed.
_RUN: Final = re.compile(r"run-[a-z0-9_]{8}")
_NEW: Final = re.compile(r"new-[a-z0-9_]{8}")
# A new folder is locked and renamed at once, so an older one was left by a killed process.
_ORPHANED_SECONDS: Final = 60


class Workspace:
    """The files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.slots = WorkerSlots(folder)
        self.key_backup = folder / "keys.json"
        self._leader: int | None = None

    def lead(self) -> bool:
        """Return whether this process is the leader, which fetches the source. The leader remains so until it ends."""
        if self._leader is None:
            self._leader = os.open(self.folder / "leader", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        return try_lock(self._leader)

    def claim(self, event: str) -> bool:
        """Claim an event of the run; return False if another process has it."""
        try:
            (self.folder / event).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def is_complete(self, processes: int) -> bool:
        """Return whether this many workers have data at the same time, or had earlier in the run.

        A worker that starts later delays nothing: the others can serve.
        """
        marker = self.folder / "complete"
        try:
            if not marker.exists():
                if sum(map(bool, self.slots.generations())) < processes:
                    return False
                marker.touch()
        except OSError:  # too many open files, for example
            return False
        return True

    def new_file(self) -> Path:
        """Return a new path for a baked file. If someone removed the folder, it is created again."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.folder / f"{token_hex(8)}.baked"

    def file(self, publication: Publication) -> Path:
        """Return the path of the published data."""
        return self.folder / publication.file

    def publication(self) -> Publication:
        """Return the current publication; that of generation 0 if there is none."""
        try:
            return msgspec.json.decode((self.folder / _PUBLICATION).read_bytes(), type=Publication)
        except FileNotFoundError:
            return Publication()

    def publish(self, publication: Publication) -> None:
        """Replace the publication, which all processes of the run follow. Raises OSError, which leaves it unchanged."""
        with atomic_write(self.folder / _PUBLICATION, durable=False) as file:
            file.write(msgspec.json.encode(publication))

    def write_rejection(self, rejected: Rejected) -> None:
        """Record why there is nothing to serve, for the parent of the workers."""
        (self.folder / _REJECTION).write_bytes(msgspec.json.encode(rejected.rejection))

    def read_rejection(self) -> Rejected | None:
        """Return why there is nothing to serve, if a worker recorded it."""
        try:
            return Rejected.by(msgspec.json.decode((self.folder / _REJECTION).read_bytes(), type=Rejection))
        except FileNotFoundError:
            return None

    def tidy(self, publication: Publication) -> None:
        """Remove all baked files except the published one: earlier generations, and files of failed attempts.

        Remove also data files that were downloaded to be compiled, which a killed process left.
        """
        for file in (*self.folder.glob("*.baked"), *temporary_files(self.folder, "*.baked")):
            if file.name != publication.file:
                file.unlink(missing_ok=True)
        for folder in self.folder.glob("*.download"):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def workspace(parent: Path) -> Iterator[Workspace]:
    """Create the workspace of a run in a folder, and remove it at the end. Raises OSError if that fails.

    The processes of the run hold a shared lock of its folder, so that neither another run nor systemd-tmpfiles removes
    it. The next run removes the folders of killed runs.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(parent)
    new = Path(tempfile.mkdtemp(prefix="new-", dir=parent))
    folder = new.with_name(new.name.replace("new-", "run-", 1))
    owner, held = os.getpid(), os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock(held, shared=True)  # forked processes hold it as well
        new.rename(folder)
        yield Workspace(folder)
    finally:
        if os.getpid() == owner:  # not a forked process
            shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _sweep(parent: Path) -> None:
    """Remove the workspaces of killed runs."""
    for folder in parent.iterdir():
        with suppress(OSError):  # another start may have removed or renamed it
            old = time() - folder.stat().st_mtime > _ORPHANED_SECONDS
            if (_RUN.fullmatch(folder.name) or (old and _NEW.fullmatch(folder.name))) and not is_locked(folder):
                shutil.rmtree(folder, ignore_errors=True)

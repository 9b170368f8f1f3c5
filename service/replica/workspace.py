"""The folder that the processes of one run share.

    leader            locked by the process that looks after the source
    publication.json  what is to be served
    *.baked           what is served, checked; beside it what may be next
    seat-N            the numbers of a worker
    refusal.json      why there is nothing to serve

The folder itself is locked, shared, while a process of the run lives, so that nobody cleans it away (systemd-tmpfiles
heeds such locks); what a run leaves that was killed, the next one removes.
"""

import fcntl
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Final

import msgspec

from service.replica.publication import Publication
from service.replica.seat import SEAT_BYTES, Seat
from service.source.source import Rejected

_RUN: Final = "run-"
_NEW: Final = ".new-"
_PUBLICATION: Final = "publication.json"
_REFUSAL: Final = "refusal.json"
# A new folder gets its name once it is locked, which takes no time.
_MAKING_SECONDS: Final = 60


class _Refusal(msgspec.Struct, frozen=True):
    why: str
    fingerprint: str
    of_records: bool


@contextmanager
def workspace(above: Path) -> Iterator["Workspace"]:
    """Make the workspace of a run in a folder, and remove it behind the run. Raises OSError where there can be none."""
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(above)
    made = Path(tempfile.mkdtemp(prefix=_NEW, dir=above))
    folder = made.with_name(made.name.replace(_NEW, _RUN, 1))
    owner, held = os.getpid(), os.open(made, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_SH)  # processes that are forked hold it, too
        made.rename(folder)
        yield Workspace(folder)
    finally:
        if os.getpid() == owner:  # and not one that was forked
            shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _sweep(above: Path) -> None:
    """Remove the workspaces of runs that were killed."""
    dead = [folder for folder in above.glob(f"{_RUN}*") if not _is_locked(folder)]
    dead += [folder for folder in above.glob(f"{_NEW}*") if time() - folder.stat().st_mtime > _MAKING_SECONDS]
    for folder in dead:
        shutil.rmtree(folder, ignore_errors=True)


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Workspace:
    """What the processes of a run share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._leader: int | None = None

    def lead(self) -> bool:
        """Return whether this process is the one that looks after the source; it is until it ends."""
        if self._leader is None:
            self._leader = os.open(self.folder / "leader", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        return _try_lock(self._leader)

    def new_file(self) -> Path:
        """Return a place for data, which nobody else will take."""
        return self.folder / f"{token_hex(8)}.baked"

    def file(self, publication: Publication) -> Path:
        """Return where the data that is published lies."""
        return self.folder / publication.file

    def publication(self) -> Publication:
        """Return what is published."""
        try:
            return msgspec.json.decode((self.folder / _PUBLICATION).read_bytes(), type=Publication)
        except FileNotFoundError:
            return Publication()

    def publish(self, publication: Publication) -> None:
        """Let all processes of the run follow a publication. Raises OSError, after which the last one stands."""
        beside = self.folder / f".{_PUBLICATION}"
        beside.write_bytes(msgspec.json.encode(publication))
        beside.replace(self.folder / _PUBLICATION)

    def refuse(self, rejected: Rejected) -> None:
        """Leave word for the process above the workers why there is nothing to serve."""
        word = _Refusal(str(rejected), rejected.fingerprint, rejected.of_records)
        (self.folder / _REFUSAL).write_bytes(msgspec.json.encode(word))

    def refusal(self) -> Rejected | None:
        """Return why there is nothing to serve, where a worker left word."""
        try:
            word = msgspec.json.decode((self.folder / _REFUSAL).read_bytes(), type=_Refusal)
        except FileNotFoundError:
            return None
        return Rejected(word.why, fingerprint=word.fingerprint, of_records=word.of_records)

    def tidy(self, publication: Publication) -> None:
        """Remove all data but what is published: earlier generations, and what is left of attempts."""
        for file in (*self.folder.glob("*.baked"), *self.folder.glob(".*.part")):
            if file.name != publication.file:
                file.unlink(missing_ok=True)

    def take_seat(self) -> Seat:
        """Return the seat of one worker among several: where one ended, its numbers go on."""
        number = 0
        while True:
            descriptor = os.open(self.folder / f"seat-{number}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            if _try_lock(descriptor):
                break
            os.close(descriptor)
            number += 1
        if os.fstat(descriptor).st_size < SEAT_BYTES:
            os.pwrite(descriptor, bytes(SEAT_BYTES), 0)  # all of it: to touch a hole on a full disk is to die
        numbers = memoryview(mmap.mmap(descriptor, SEAT_BYTES)).cast("q")
        seat = Seat(numbers=numbers, everyone=self._all_numbers, living=lambda: len(self.serving()), alone=False)
        seat.serves(0)
        return seat

    def serving(self) -> list[int]:
        """Return which generation each worker that lives serves; 0 is none."""
        return [memoryview(file.read_bytes()).cast("q")[0] for file in self._seats() if _is_locked(file)]

    def _all_numbers(self) -> list[memoryview]:
        return [memoryview(file.read_bytes()).cast("q") for file in self._seats()]

    def _seats(self) -> list[Path]:
        return [file for file in sorted(self.folder.glob("seat-*")) if file.stat().st_size == SEAT_BYTES]

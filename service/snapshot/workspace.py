"""The folder that the processes of one run share.

    leader            locked by the process that looks after the source
    publication.json  what is to be served
    *.baked           what is served, checked; beside it what may be next
    access-log        locked by the process that writes the access log
    slot-N            the numbers of a worker
    complete          there once all workers had data at the same time
    refusal.json      why there is nothing to serve
    keys.json         what the key file held when it was last in order

What says something once, such as `ready`, is an empty file of that name.
"""

import os
from pathlib import Path
from secrets import token_hex
from typing import Final

import msgspec

from service.files.atomic_write import atomic_write, temporary_files
from service.files.locks import try_lock
from service.loading.acceptance import Cause
from service.snapshot.publication import Publication
from service.snapshot.worker_slots import WorkerSlots
from service.sources.source import Rejected

_PUBLICATION: Final = "publication.json"
_REFUSAL: Final = "refusal.json"
_COMPLETE: Final = "complete"


class _Refusal(msgspec.Struct, frozen=True):
    why: str
    fingerprint: str
    cause: Cause


class Workspace:
    """What the processes of a run share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.slots = WorkerSlots(folder)
        self.keys = folder / "keys.json"
        self._leader: int | None = None

    def lead(self) -> bool:
        """Return whether this process is the one that looks after the source; it is until it ends."""
        if self._leader is None:
            self._leader = os.open(self.folder / "leader", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        return try_lock(self._leader)

    def first(self, what: str) -> bool:
        """Return whether this process is the first of the run to ask this."""
        try:
            (self.folder / what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def is_complete(self, processes: int) -> bool:
        """Return whether so many workers have data now, or had at any time before.

        A worker that dies after that does not count any more: the others can answer.
        """
        marker = self.folder / _COMPLETE
        try:
            if not marker.exists():
                if sum(map(bool, self.slots.serving())) < processes:
                    return False
                marker.touch()
        except OSError:  # of too many open files, say
            return False
        return True

    def new_file(self) -> Path:
        """Return a place for data, which nobody else will take; where somebody removed the folder, it is made again."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
        with atomic_write(self.folder / _PUBLICATION, durable=False) as file:
            file.write(msgspec.json.encode(publication))

    def refuse(self, rejected: Rejected) -> None:
        """Leave word for the process above the workers why there is nothing to serve."""
        word = _Refusal(str(rejected), rejected.fingerprint, rejected.cause)
        (self.folder / _REFUSAL).write_bytes(msgspec.json.encode(word))

    def refusal(self) -> Rejected | None:
        """Return why there is nothing to serve, where a worker left word."""
        try:
            word = msgspec.json.decode((self.folder / _REFUSAL).read_bytes(), type=_Refusal)
        except FileNotFoundError:
            return None
        return Rejected(word.why, fingerprint=word.fingerprint, cause=word.cause)

    def tidy(self, publication: Publication) -> None:
        """Remove all data but what is published: earlier generations, and what is left of attempts."""
        for file in (*self.folder.glob("*.baked"), *temporary_files(self.folder, "*.baked")):
            if file.name != publication.file:
                file.unlink(missing_ok=True)

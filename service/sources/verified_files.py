"""The baked files that were verified: empty files in a folder, named by format, program version and signature.

They are a user's own: another user who could add one would have the service map a file that nothing has checked. So the
folder, which others may have created, is opened first, and ignored unless only this user can write into it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from service import __version__
from service.baking.baked_file import FORMAT
from service.files.status import Signature

_MOST: Final = 64
# Two changes within a tick of the file system's clock have one time; some file systems count whole seconds.
_TICK_NS: Final = 20_000_000
_SECOND_NS: Final = 1_000_000_000
# File systems in memory, where a change through a mapping changes no time of the file.
_IN_MEMORY: Final = ("tmpfs", "ramfs")
_MOUNTS: Final = Path("/proc/self/mountinfo")


class VerifiedFiles:
    """The verified files that a folder lists. Errors are ignored: a file that is not listed is verified again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, signature: Signature) -> bool:
        """Return whether a file with this signature was verified, by this version of the program."""
        try:
            with self._opened() as folder:
                status = os.stat(_name(signature), dir_fd=folder, follow_symlinks=False)
                return stat.S_ISREG(status.st_mode) and _is_own(status)
        except OSError:
            return False

    def add(self, file: BinaryIO, signature: Signature, since_ns: int) -> None:
        """List an open file that had this signature while it was verified; the oldest of many leave the list.

        since_ns  when verifying began, by the system's clock: a file that changed just before may have changed again
                  within the same tick, and is not listed
        """
        tick = _TICK_NS if signature.changed_ns % _SECOND_NS else 2 * _SECOND_NS
        if since_ns - signature.changed_ns < tick or is_in_memory(signature.device):
            return
        with suppress(OSError):
            os.fsync(file.fileno())  # what is listed must be on the disk: after a power failure it is not read again
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opened() as folder:
                os.close(os.open(_name(signature), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=folder))
                _sweep(folder)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder, without following a link. Raises OSError, also if others can write into it."""
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not _is_own(os.fstat(folder)):
                raise PermissionError
            yield folder
        finally:
            os.close(folder)


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def is_in_memory(device: int) -> bool:
    """Return whether a device is memory (proc_pid_mountinfo(5)); False where the system does not say."""
    try:
        mounts = [line.split() for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    return any(mount[2] == number and mount[mount.index("-") + 1] in _IN_MEMORY for mount in mounts)


def _name(signature: Signature) -> str:
    """Return the complete key, not a digest."""
    return "-".join(map(str, (FORMAT.split()[-1], __version__, *msgspec.structs.astuple(signature))))


def _sweep(folder: int) -> None:
    """Remove the oldest files of more than `_MOST`."""
    ages = []
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):  # another process has removed it
            ages.append((os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns, name))
    for _, name in sorted(ages)[:-_MOST]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)

"""Files: atomic writes, clones, signatures, and advisory locks (flock), which end with their process."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from typing import BinaryIO, Final

import msgspec


@contextmanager
def atomic_write(target: Path, *, durable: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a temporary file beside `target`. It replaces `target` if the block succeeds; else it is removed.

    durable  sync the file and its folder, so that the new content survives a crash of the machine
    mode     permissions of the new file, to which the umask applies

    Raises OSError. Concurrent writers of one target have a temporary file each; the last to finish wins.
    """
    temporary = target.with_name(f".{target.name}.{token_hex(8)}.part")
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def temporary_files(folder: Path, targets: str) -> Iterator[Path]:
    """Yield the temporary files in a folder, such as killed processes leave, of the targets that match a pattern."""
    return folder.glob(f".{targets}.*.part")


def _sync_folder(folder: Path) -> None:
    """Sync a folder, and with it a rename. Some file systems cannot; the file is in place all the same."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_FICLONE: Final = getattr(fcntl, "FICLONE", 0x40049409)  # in `fcntl` since Python 3.14; ioctl_ficlone(2)


def clone_file(source: BinaryIO, to: BinaryIO) -> bool:
    """Make an open, empty file a clone of another; return False where the file system cannot, such as ext4."""
    try:
        fcntl.ioctl(to.fileno(), _FICLONE, source.fileno())
    except OSError:
        return False
    return True


class Signature(msgspec.Struct, frozen=True):
    """The state of a file. Equal signatures mean an unchanged file, except within one tick of the file system's clock.

    Times are in nanoseconds since the epoch.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        """Return the signature in the result of `os.stat` or `os.fstat`."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def check_regular(status: os.stat_result) -> None:
    """Raise OSError unless the file is regular: opening a pipe, or reading a device, could block forever."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


# Locks of folders are held for a moment. A process that holds one for longer than this hangs.
LOCK_TIMEOUT_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.01


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file; return False if a lock of another process conflicts."""
    try:
        lock(descriptor, shared=shared, wait=False)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file; wait while a lock of another process conflicts, or raise BlockingIOError."""
    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Hold the exclusive lock of an open file, as long as it takes to get it."""
    lock(descriptor)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_locked(path: Path, *, shared: bool = False) -> bool:
    """Return whether a process holds a lock that conflicts with ours. A file that cannot be opened may be locked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not try_lock(descriptor, shared=shared)
    finally:
        os.close(descriptor)


@contextmanager
def locked_folder(folder: Path, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the exclusive lock of a folder. Raises OSError, TimeoutError if another process holds it for too long."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = monotonic() + timeout_seconds
        while not try_lock(descriptor):
            if monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, f"another process holds the lock of the folder {folder}")
            sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(descriptor)

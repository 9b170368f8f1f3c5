"""Advisory locks (flock). The system releases them when the process ends, however it ends."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

# Locks of folders are held for a moment. A process that holds one for longer than this hangs.
LOCK_TIMEOUT_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.01


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file; return False if a lock of another process conflicts."""
    try:
        fcntl.flock(descriptor, _kind(shared=shared) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file; wait while a lock of another process conflicts."""
    fcntl.flock(descriptor, _kind(shared=shared))


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


def _kind(*, shared: bool) -> int:
    return fcntl.LOCK_SH if shared else fcntl.LOCK_EX

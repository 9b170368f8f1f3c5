"""Locks of the system, which are let go when their process ends, in whatever way."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

# How long others may hold a lock that is taken for a moment, and how soon it is tried again.
LONGEST_WAIT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.01


def try_lock(descriptor: int, how: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file, or return False where somebody else has it locked."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path, against: int = fcntl.LOCK_EX) -> bool:
    """Return whether somebody's lock stands against one of ours. What cannot be looked at may be locked."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not try_lock(descriptor, against)
    finally:
        os.close(descriptor)


@contextmanager
def alone_in(folder: Path, wait_seconds: float = LONGEST_WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a folder. Raises OSError where others hold it for longer than is waited."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until = monotonic() + wait_seconds
        while not try_lock(descriptor):
            if monotonic() > until:
                raise OSError(0, f"another process holds the lock of the folder {folder}")
            sleep(_LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)

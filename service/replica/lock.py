"""Locks of the system, which are let go when their process ends, in whatever way."""

import fcntl
import os
from pathlib import Path


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

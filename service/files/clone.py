"""Clones of files that share their blocks with the original (reflinks): no bytes are read or written."""

import fcntl
from typing import BinaryIO, Final

_FICLONE: Final = getattr(fcntl, "FICLONE", 0x40049409)  # in `fcntl` since Python 3.14; ioctl_ficlone(2)


def clone_file(source: BinaryIO, to: BinaryIO) -> bool:
    """Make an open, empty file a clone of another; return False where the file system cannot, such as ext4."""
    try:
        fcntl.ioctl(to.fileno(), _FICLONE, source.fileno())
    except OSError:
        return False
    return True

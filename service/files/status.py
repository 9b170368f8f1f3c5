"""File metadata: whether it is regular, and its signature, which changes when the file does."""

import errno
import os
import stat

import msgspec


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

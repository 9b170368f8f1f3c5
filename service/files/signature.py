"""The signature of a file: what `stat` says of it that changes when the file is written or replaced."""

import os

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

"""The check for regular files: opening a pipe, or reading a device, could block forever."""

import errno
import os
import stat


def check_regular(status: os.stat_result) -> None:
    """Raise OSError unless the result of `os.stat` or `os.fstat` is that of a regular file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")

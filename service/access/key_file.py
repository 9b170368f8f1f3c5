"""The key file: read, and changed so that it is always whole."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeAlias

import msgspec

from service.access.key_entries import MOST_BYTES, BadKeys, KeyEntry, NoKeys, read_keys, write_keys
from service.files.locks import LONGEST_WAIT_SECONDS, alone_in

_OWN: Final = 0o600
_FOR_OTHERS: Final = stat.S_IRWXO
Change: TypeAlias = Callable[[tuple[KeyEntry, ...]], tuple[KeyEntry, ...]]


class Signature(msgspec.Struct, frozen=True):
    """What a file looks like from outside: another one wherever it was written or replaced."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def signature(path: Path) -> Signature:
    """Return what the file looks like that a path and its links lead to. Raises `BadKeys`."""
    with _telling():
        return _signature(path.stat())


def read_stored(path: Path) -> tuple[bytes, Signature]:
    """Return what a key file holds, and what it looked like before it was read. Raises `BadKeys`."""
    with _telling(), _opened(path, os.O_NONBLOCK) as descriptor:  # to open a pipe would be to wait
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BadKeys("it is no regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            stored = file.read(MOST_BYTES + 1)
    if len(stored) > MOST_BYTES:
        raise BadKeys(f"it is larger than {MOST_BYTES >> 20} MiB")
    return stored, _signature(status)


def is_open_to_all(path: Path) -> bool:
    """Return whether everybody on the machine may read or write a file. Raises `BadKeys`."""
    with _telling():
        return bool(path.stat().st_mode & _FOR_OTHERS)


def change_keys(path: Path, change: Change, *, wait_seconds: float = LONGEST_WAIT_SECONDS) -> None:
    """Let a key file hold other entries; one that is missing holds none. Raises `BadKeys`, and then it is as it was.

    One process at a time, under a lock of the folder, which leaves nothing behind and ends with its process. Whoever
    may read the folder may hold that lock, so it is not waited for without end.
    """
    with _telling():
        target = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
        with alone_in(target.parent, wait_seconds):
            for left in target.parent.glob(f".{escape(target.name)}.*.new"):  # by a process that was killed
                left.unlink(missing_ok=True)
            entries = read_keys(read_stored(target)[0]) if target.exists() else ()
            replace(target, write_keys(change(entries)))


def replace(target: Path, content: bytes) -> None:
    """Write a file beside its place, and rename it there once it is on the disk. Raises OSError.

    Owner and group stay, so that a service under another name goes on reading; what others may, goes.
    """
    beside = target.with_name(f".{target.name}.{token_hex(8)}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWN)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            _take_after(descriptor, target)
            os.fsync(descriptor)
        beside.replace(target)
        with _opened(target.parent, os.O_DIRECTORY) as folder:
            os.fsync(folder)
    finally:
        beside.unlink(missing_ok=True)


def _take_after(descriptor: int, target: Path) -> None:
    """Give a new file owner, group and mode of the one that it replaces."""
    if target.exists():
        status = target.stat()
        os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & ~_FOR_OTHERS)


def _signature(status: os.stat_result) -> Signature:
    return Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@contextmanager
def _opened(path: Path, how: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | how)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _telling() -> Iterator[None]:
    """Let what the system refuses be `BadKeys`. Its own text would quote the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise NoKeys(error.strerror) from None
    except OSError as error:
        raise BadKeys(error.strerror or "it cannot be read") from None
    except (ValueError, RuntimeError):  # a path with U+0000
        raise BadKeys("it is no path") from None

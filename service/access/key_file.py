"""The key file: reading it, and changing it atomically."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Final, TypeAlias

from service.access.key_entries import MAX_FILE_BYTES, KeyEntry, KeyFileError, KeyFileMissing, encode_keys, read_keys
from service.files.atomic_write import atomic_write, temporary_files
from service.files.locks import LOCK_TIMEOUT_SECONDS, locked_folder
from service.files.status import Signature, check_regular

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXO
Change: TypeAlias = Callable[[tuple[KeyEntry, ...]], tuple[KeyEntry, ...]]


def read_signature(path: Path) -> Signature:
    """Return the signature of the file that a path, or a link, leads to. Raises `KeyFileError`."""
    with _key_file_errors():
        return Signature.of(path.stat())


def read_content(path: Path) -> tuple[bytes, Signature]:
    """Return the content of a key file, and its signature before it was read. Raises `KeyFileError`."""
    with _key_file_errors(), open(path, "rb", opener=_open_nonblocking) as file:
        status = os.fstat(file.fileno())
        check_regular(status)
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise KeyFileError(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    return content, Signature.of(status)


def is_open_to_others(path: Path) -> bool:
    """Return whether every user of the machine may read or write a file. Raises `KeyFileError`."""
    with _key_file_errors():
        return bool(path.stat().st_mode & _OTHERS)


def change_keys(path: Path, change: Change, *, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
    """Replace the entries of a key file with the result of `change`; a missing file counts as empty.

    Raises `KeyFileError`, after which the file is unchanged. Changes are serialized by a lock of the folder. Everyone
    who may read the folder can hold that lock, so waiting for it has a timeout.
    """
    with _key_file_errors():
        target = Path(os.path.realpath(path))  # the target of a link is replaced, not the link
        with locked_folder(target.parent, timeout_seconds):
            for left in temporary_files(target.parent, escape(target.name)):
                left.unlink(missing_ok=True)
            entries = read_keys(read_content(target)[0]) if target.exists() else ()
            replace_file(target, encode_keys(change(entries)))


def replace_file(target: Path, content: bytes) -> None:
    """Write a file atomically and durably. Raises OSError.

    The file keeps its owner and group, so that a service under another user can still read it. Permissions of others
    are removed.
    """
    with atomic_write(target, mode=_OWNER_ONLY) as file:
        file.write(content)
        if target.exists():
            status = target.stat()
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode) & ~_OTHERS)


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # opening a pipe would block until someone writes to it


@contextmanager
def _key_file_errors() -> Iterator[None]:
    """Raise `KeyFileError` for an error of the system, whose own text would quote the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise KeyFileMissing(error.strerror) from None
    except OSError as error:
        raise KeyFileError(error.strerror or "it cannot be read") from None
    except (ValueError, RuntimeError):  # a path with U+0000
        raise KeyFileError("it is not a valid path") from None

"""Atomic writes: a reader sees the old content or the new, never a mix."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


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

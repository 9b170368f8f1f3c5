"""Watching folders for changes, by the notifications of the operating system."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, TypeAlias

from watchfiles import awatch

# Changes within a step are reported together; a continuous stream of changes is reported this often.
_STEP_MILLISECONDS: Final = 50
_DEBOUNCE_MILLISECONDS: Final = 200
# Interval of the check that the watched folders have not been replaced.
_CHECK_MILLISECONDS: Final = 1_000
_RETRY_SECONDS: Final = 10
_log = logging.getLogger(__name__)

Folders: TypeAlias = Callable[[], Sequence[Path]]


async def changes(folders: Folders) -> AsyncGenerator[None]:
    """Yield after each change of an entry in the folders, any of which may be replaced meanwhile.

    Yields nothing on file systems without notifications, such as network file systems.
    """
    logged = False
    while True:
        inodes = await asyncio.to_thread(_inodes, folders)
        if not inodes:
            return
        try:
            async with aclosing(_changes(inodes, folders)) as changed:
                async for _ in changed:
                    yield
        except (OSError, RuntimeError) as error:
            if not logged:
                _log.warning("%s cannot be watched, and is only polled: %s", inodes[0][0], error)
            logged = True
            await asyncio.sleep(_RETRY_SECONDS)


async def _changes(inodes: list[tuple[Path, int]], folders: Folders) -> AsyncGenerator[None]:
    """Yield when the watch has begun, as changes may precede it, and after each change until a folder is replaced."""
    watched = {folder for folder, _ in inodes}
    watch = awatch(
        *watched,
        watch_filter=None,
        debounce=_DEBOUNCE_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        rust_timeout=_CHECK_MILLISECONDS,
        yield_on_timeout=True,
        recursive=False,
    )
    fresh = True
    async with aclosing(watch):
        async for changed in watch:
            if changed or fresh:
                yield
            fresh = False
            if any(Path(path) in watched for _, path in changed):  # replaced, perhaps by one of the same inode number
                return
            if await asyncio.to_thread(_inodes, folders) != inodes:
                return


def _inodes(folders: Folders) -> list[tuple[Path, int]]:
    """Return the folders with their inode numbers, 0 for a missing one."""
    inodes = []
    for folder in folders():
        try:
            inodes.append((folder, folder.stat().st_ino))
        except OSError:
            inodes.append((folder, 0))
    return inodes

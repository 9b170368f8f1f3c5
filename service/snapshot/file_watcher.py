"""Changes of folders, as the system tells of them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, TypeAlias

from watchfiles import awatch

# Changes that follow each other within a step are told at once; a stream of them, this often.
_STEP_MILLISECONDS: Final = 50
_LONGEST_MILLISECONDS: Final = 200
# How often it is seen to that the folders are still those that are watched.
_LOOK_MILLISECONDS: Final = 1_000
_RETRY_SECONDS: Final = 10
_log = logging.getLogger(__name__)

Folders: TypeAlias = Callable[[], Sequence[Path]]


async def changes(folders: Folders) -> AsyncGenerator[None]:
    """Yield whenever something changes in the folders themselves, any of which may be replaced meanwhile.

    Where the system tells of no changes, as of network file systems, nothing is yielded.
    """
    told = False
    while True:
        marks = await asyncio.to_thread(_marks, folders)
        if not marks:
            return
        try:
            async with aclosing(_changes(marks, folders)) as changed:
                async for _ in changed:
                    yield
        except (OSError, RuntimeError) as error:
            if not told:
                _log.warning("the system does not tell of changes of %s: %s", marks[0][0], error)
            told = True
            await asyncio.sleep(_RETRY_SECONDS)


async def _changes(marks: list[tuple[Path, int]], folders: Folders) -> AsyncGenerator[None]:
    """Yield changes until the folders are others, and once when the watch stands: something may have changed before."""
    watched = {folder for folder, _ in marks}
    watch = awatch(
        *watched,
        watch_filter=None,
        debounce=_LONGEST_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        rust_timeout=_LOOK_MILLISECONDS,
        yield_on_timeout=True,
        recursive=False,
    )
    fresh = True
    async with aclosing(watch):
        async for changed in watch:
            if changed or fresh:
                yield
            fresh = False
            if any(Path(path) in watched for _, path in changed):  # it may be another one now, of the same number
                return
            if await asyncio.to_thread(_marks, folders) != marks:
                return


def _marks(folders: Folders) -> list[tuple[Path, int]]:
    """Return the folders, each with what tells it from another of its name."""
    marks = []
    for folder in folders():
        try:
            marks.append((folder, folder.stat().st_ino))
        except OSError:
            marks.append((folder, 0))
    return marks

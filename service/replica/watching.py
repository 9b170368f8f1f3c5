"""Changes of folders, as the system tells of them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

from watchfiles import awatch

# Changes that follow each other within a step are told at once; a stream of them, this often.
_STEP_MILLISECONDS: Final = 50
_LONGEST_MILLISECONDS: Final = 200
# How often it is seen to that the folders are still those that are watched.
_LOOK_MILLISECONDS: Final = 1_000
_RETRY_SECONDS: Final = 10
_log = logging.getLogger(__name__)


async def changes(folders: Callable[[], Sequence[Path]]) -> AsyncGenerator[None]:
    """Yield whenever something changes in the folders themselves, which may be replaced themselves.

    Where the system tells of no changes, as of network file systems, nothing is yielded.
    """
    while watched := folders():
        try:
            async with aclosing(_changes(watched, folders)) as changed:
                async for _ in changed:
                    yield
        except (OSError, RuntimeError) as error:
            _log.warning("changes of %s are not told by the system: %s", watched[0], error)
            await asyncio.sleep(_RETRY_SECONDS)


async def _changes(watched: Sequence[Path], folders: Callable[[], Sequence[Path]]) -> AsyncGenerator[None]:
    """Yield changes until the folders are others, and once when the watch stands: something may have changed before."""
    marks, fresh = _marks(watched), True
    watch = awatch(
        *watched,
        watch_filter=None,
        debounce=_LONGEST_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        rust_timeout=_LOOK_MILLISECONDS,
        yield_on_timeout=True,
        recursive=False,
    )
    async with aclosing(watch):
        async for changed in watch:
            if changed or fresh:
                yield
            fresh = False
            if _marks(folders()) != marks:
                return


def _marks(folders: Sequence[Path]) -> list[tuple[Path, int]]:
    marks = []
    for folder in folders:
        try:
            marks.append((folder, folder.stat().st_ino))
        except OSError:
            marks.append((folder, 0))
    return marks

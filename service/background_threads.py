"""Threads that compute for the event loop, and leave it the core."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

# A loop that has something to do gets the core at once, not after a thread's turn of some milliseconds; one that always
# has leaves the threads a tenth of it.
_NICENESS: Final = 10


def background_threads(most: int, name: str) -> ThreadPoolExecutor:
    """Return at most some threads, started when needed, of lower priority than the process where that can be set."""
    return ThreadPoolExecutor(most, thread_name_prefix=name, initializer=_lower_priority)


def _lower_priority() -> None:
    """Lower the priority of this thread: on Linux alone it is not that of the process. It may be forbidden."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.nice(_NICENESS)

"""Long-running work: background threads, child processes and progress reports."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import service

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


# Like `python -m`, but with this very package, not with one of the same name in the working directory. To collect
# garbage takes a quarter of the time of the imports, and such a process ends soon.
_START: Final = (
    "import gc, runpy, sys; gc.disable(); packages, module = sys.argv[1:3]; del sys.argv[1:3]; "
    "packages in sys.path or sys.path.insert(0, packages); runpy.run_module(module, run_name='__main__'); gc.freeze()"
)
_PACKAGES: Final = str(Path(service.__file__).parents[1])


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of this package as the main program."""
    return sys.executable, "-P", "-c", _START, _PACKAGES, module, *arguments


# Called from time to time with the step's name, the work done and the total. It may raise, which stops the work.
Progress = Callable[[str, int, int], None]


def silent(step: str, done: int, total: int) -> None:
    """Report nothing."""

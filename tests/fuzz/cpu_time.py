"""The CPU time of a call."""

import gc
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from math import inf
from time import thread_time
from typing import Final, NoReturn

from bench.processes import caches

LONGEST_SECONDS: Final = 10
_COLLECT_AFTER: Final = 200  # calls
# Packages whose caches would answer in place of the reader when an input is read again.
_CACHING: Final = ("service.", "yarl.")


class _Stopped(BaseException):
    """A reader has exceeded its time limit."""


@contextmanager
def cpu_time() -> Iterator[Callable[[Callable[[bytes], object], bytes], float]]:
    """Yield a function that returns the seconds of CPU time of a reader, infinity if it is stopped.

    Meanwhile garbage collection and logging are off, and the timer and the handler of SIGPROF are in use.
    """
    clears, calls = caches(_CACHING), count()

    def measured(read: Callable[[bytes], object], sample: bytes) -> float:
        for clear in clears:
            clear()
        if next(calls) % _COLLECT_AFTER == 0:
            gc.collect()
        started = thread_time()
        try:
            signal.setitimer(signal.ITIMER_PROF, LONGEST_SECONDS)
            read(sample)
        except _Stopped:
            return inf
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return thread_time() - started

    earlier = signal.signal(signal.SIGPROF, _stop)
    gc.freeze()
    gc.disable()
    logging.disable()
    try:
        yield measured
    finally:
        logging.disable(logging.NOTSET)
        gc.enable()
        gc.unfreeze()
        signal.signal(signal.SIGPROF, earlier)


def _stop(*_: object) -> NoReturn:
    raise _Stopped

"""Progress reports of long-running work."""

from collections.abc import Callable
from threading import Lock

# Called from time to time with the step's name, the work done and the total. It may raise, which stops the work.
Progress = Callable[[str, int, int], None]


def silent(step: str, done: int, total: int) -> None:
    """Report nothing."""


class Tally:
    """Adds up the work of several threads on one step, and reports it."""

    def __init__(self, progress: Progress, step: str, total: int) -> None:
        self._progress, self._step, self._done, self._total = progress, step, 0, total
        self._lock = Lock()

    def add(self, work: int) -> None:
        """Add work that was done."""
        with self._lock:
            self._done += work
            self._progress(self._step, self._done, self._total)

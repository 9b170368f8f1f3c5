"""Progress reports of long-running work."""

from collections.abc import Callable

# Called from time to time with the step's name, the work done and the total. It may raise, which stops the work.
Progress = Callable[[str, int, int], None]


def silent(step: str, done: int, total: int) -> None:
    """Report nothing."""

"""How long work tells how far it is."""

from collections.abc import Callable

# Called now and then with the step's name, how much is done and how much there is. It may raise, to end the work.
Progress = Callable[[str, int, int], None]


def silent(step: str, done: int, total: int) -> None:
    """Tell nobody."""

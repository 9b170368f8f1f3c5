"""What a person at a terminal sees of long work."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from rich import progress as bars
from rich.console import Console

from service.progress import Progress, silent

# What is over sooner shows no bar.
_PATIENCE_SECONDS: Final = 1.0

stderr = Console(stderr=True, highlight=False)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second as a bar on standard error; where that is no terminal, show nothing."""
    if not stderr.is_terminal:
        yield silent
        return
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TaskProgressColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=stderr, transient=True) as shown:
        yield _Bars(shown)


class _Bars:
    """Shows each step as a bar of its own, from the second after the first call on."""

    def __init__(self, shown: bars.Progress) -> None:
        self._shown, self._began = shown, monotonic()
        self._tasks: dict[str, bars.TaskID] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        if step not in self._tasks:
            if monotonic() - self._began < _PATIENCE_SECONDS:
                return
            self._tasks[step] = self._shown.add_task(step, total=total)
        self._shown.update(self._tasks[step], completed=done, total=total)

"""What a person at a terminal sees of long work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from service.progress import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars, TaskID

# What is over sooner shows no bar.
_PATIENCE_SECONDS: Final = 1.0


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second as a bar on standard error; where that is no terminal, show nothing."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich import progress as bars  # noqa: PLC0415 - where nobody looks, the start need not wait for it
    from rich.console import Console  # noqa: PLC0415 - as above

    stderr = Console(stderr=True, highlight=False)
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TaskProgressColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=stderr, transient=True) as shown:
        yield _Bars(shown)


class _Bars:
    """Shows each step as a bar of its own, from the second after the first call on."""

    def __init__(self, shown: "Bars") -> None:
        self._shown, self._began = shown, monotonic()
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        if step not in self._tasks:
            if monotonic() - self._began < _PATIENCE_SECONDS:
                return
            self._tasks[step] = self._shown.add_task(step, total=total)
        self._shown.update(self._tasks[step], completed=done, total=total)

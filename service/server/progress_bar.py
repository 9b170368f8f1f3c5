"""Progress bars on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from service.progress import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars, TaskID

# Shorter work has no bar.
_DELAY_SECONDS: Final = 1.0


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second as a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich import progress as bars  # noqa: PLC0415 - slow to import, and needed on a terminal only
    from rich.console import Console  # noqa: PLC0415 - as above

    stderr = Console(stderr=True, highlight=False)
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TaskProgressColumn())
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=stderr, transient=True) as display:
        yield _Bars(display)


class _Bars:
    """Shows each step as a bar, from one second after the first call on."""

    def __init__(self, display: "Bars") -> None:
        self._display, self._began = display, monotonic()
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        if step not in self._tasks:
            if monotonic() - self._began < _DELAY_SECONDS:
                return
            self._tasks[step] = self._display.add_task(step, total=total)
        self._display.update(self._tasks[step], completed=done, total=total)

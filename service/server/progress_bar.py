"""Progress bars on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from service.progress import Progress, silent

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
        began, tasks = monotonic(), dict[str, bars.TaskID]()

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                if monotonic() - began < _DELAY_SECONDS:
                    return
                tasks[step] = display.add_task(step, total=total)
            display.update(tasks[step], completed=done, total=total)

        yield show

"""Progress bars on a terminal; elsewhere lines in the log."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from service.background import Progress

# Shorter work has no bar.
_DELAY_SECONDS: Final = 1.0
_LOG_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show work that takes over a second as a bar on standard error, if that is a terminal, else in the log."""
    if not sys.stderr.isatty():
        yield _logged_progress()
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


def _logged_progress() -> Progress:
    logged = monotonic()

    def log(step: str, done: int, total: int) -> None:
        nonlocal logged
        if monotonic() - logged >= _LOG_SECONDS:
            logged = monotonic()
            _log.info("%s: %.0f %%", step, 100 * done / total)

    return log

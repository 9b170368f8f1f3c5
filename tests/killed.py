"""Kills work at each of its steps: `python -m tests.killed WORK FOLDER [ARGUMENT]...`.

A step is an access to files of the folder, such as to open, rename or remove one; Python announces each as an audit
event just before it happens. Points in time would depend on the machine's speed, steps do not.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from subprocess import PIPE
from typing import Any

from tests.warm import Warm

_KILLED, _ENDED = "killed", "ended"


def dies_at(step: int, folder: str) -> None:
    """Make this process kill itself before its n-th access, from 1, to files of a folder."""
    steps = count(1)

    def hook(_: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0] if arguments else None
        if isinstance(path, str | Path) and str(path).startswith(folder) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


@contextmanager
def killable(work: str, folder: Path, *arguments: object) -> Iterator[Callable[[int], bool]]:
    """Yield a function that runs the work, kills it at a step, and returns whether the work reached that step.

    `work` is a function, as `module:name`, of the folder and the arguments as texts. Each run has a new process,
    forked from one that has imported its module.
    """
    command = [sys.executable, "-m", "tests.killed", work, str(folder), *map(str, arguments)]
    with Warm(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        steps, outcomes = process.stdin, process.stdout

        def run(step: int) -> bool:
            print(step, file=steps, flush=True)
            outcome = outcomes.readline().strip()
            assert outcome in (_KILLED, _ENDED), outcome
            return outcome == _KILLED

        yield run
        steps.close()
        assert process.wait() == 0


def main(work: Callable[..., object], folder: str, *arguments: str) -> None:
    """Read step after step; print for each whether the work was killed or had ended before."""
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            dies_at(int(line), folder)
            work(folder, *arguments)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print(_KILLED if killed else _ENDED if status == 0 else f"failed: {status}", flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main(resolve_name(sys.argv[1]), *sys.argv[2:])

"""The folders of runs: each run has one, and takes it away when it ends."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import Final

from service.files.locks import is_locked, lock
from service.snapshot.workspace import Workspace

# As `tempfile` names them; nothing else is ever removed.
_RUN: Final = re.compile(r"run-[a-z0-9_]{8}")
_NEW: Final = re.compile(r"new-[a-z0-9_]{8}")
# A new folder gets its name once it is locked, which takes no time.
_MAKING_SECONDS: Final = 60


@contextmanager
def workspace(above: Path) -> Iterator[Workspace]:
    """Make the workspace of a run in a folder, and remove it behind the run. Raises OSError where there can be none.

    Its folder is locked, shared, while a process of the run lives, so that nobody cleans it away (systemd-tmpfiles
    heeds such locks); what a run leaves that was killed, the next one removes.
    """
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(above)
    made = Path(tempfile.mkdtemp(prefix="new-", dir=above))
    folder = made.with_name(made.name.replace("new-", "run-", 1))
    owner, held = os.getpid(), os.open(made, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock(held, shared=True)  # processes that are forked hold it, too
        made.rename(folder)
        yield Workspace(folder)
    finally:
        if os.getpid() == owner:  # and not one that was forked
            shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _sweep(above: Path) -> None:
    """Remove the workspaces of runs that were killed."""
    for folder in above.iterdir():
        with suppress(OSError):  # as where another start removes or renames it
            old = time() - folder.stat().st_mtime > _MAKING_SECONDS
            if (_RUN.fullmatch(folder.name) or (old and _NEW.fullmatch(folder.name))) and not is_locked(folder):
                shutil.rmtree(folder, ignore_errors=True)

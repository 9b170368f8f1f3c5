"""The folders of runs: each run creates one, and removes it at its end."""

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

# The names of `tempfile`. Nothing else is ever removed.
_RUN: Final = re.compile(r"run-[a-z0-9_]{8}")
_NEW: Final = re.compile(r"new-[a-z0-9_]{8}")
# A new folder is locked and renamed at once, so an older one was left by a killed process.
_ORPHANED_SECONDS: Final = 60


@contextmanager
def workspace(parent: Path) -> Iterator[Workspace]:
    """Create the workspace of a run in a folder, and remove it at the end. Raises OSError if that fails.

    The processes of the run hold a shared lock of its folder, so that neither another run nor systemd-tmpfiles removes
    it. The next run removes the folders of killed runs.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(parent)
    new = Path(tempfile.mkdtemp(prefix="new-", dir=parent))
    folder = new.with_name(new.name.replace("new-", "run-", 1))
    owner, held = os.getpid(), os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock(held, shared=True)  # forked processes hold it as well
        new.rename(folder)
        yield Workspace(folder)
    finally:
        if os.getpid() == owner:  # not a forked process
            shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _sweep(parent: Path) -> None:
    """Remove the workspaces of killed runs."""
    for folder in parent.iterdir():
        with suppress(OSError):  # another start may have removed or renamed it
            old = time() - folder.stat().st_mtime > _ORPHANED_SECONDS
            if (_RUN.fullmatch(folder.name) or (old and _NEW.fullmatch(folder.name))) and not is_locked(folder):
                shutil.rmtree(folder, ignore_errors=True)

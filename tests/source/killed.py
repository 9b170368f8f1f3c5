"""A process that takes from an origin over and over, and is killed: `python -m tests.source.killed URL FOLDER`.

It reads from its input how many seconds each run has before it is killed, and says so when it was.
"""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from service.loading.acceptance import Safeguards
from service.progress import silent
from service.source.remote import RemoteSource


async def take_for_ever(url: str, folder: Path) -> None:
    to = folder / "to-be-killed.baked"
    while True:
        source = RemoteSource(url, folder / "cache")
        for _ in range(3):
            to.unlink(missing_ok=True)
            await source.take(to, seen="", check=Safeguards().check, progress=silent)


def main(url: str, folder: Path) -> None:
    for seconds in sys.stdin:
        if (child := os.fork()) == 0:  # a new interpreter each time would take longer than all runs
            asyncio.run(take_for_ever(url, folder))
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print("killed", flush=True)  # noqa: T201 - a program's own output


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

"""What is killed over its work with an origin: see `tests.killed`."""

import asyncio
from pathlib import Path

from service.progress import silent
from service.source.remote import RemoteSource


def take_twice(folder: str, url: str) -> None:
    """Take what an origin holds, and then what it holds instead, as two runs of a service."""
    for _ in range(2):
        to = Path(folder, "to-be-killed.baked")
        to.unlink(missing_ok=True)
        asyncio.run(RemoteSource(url, Path(folder, "cache")).take(to, seen="none", progress=silent))

"""What is killed over its work with an origin: see `tests.killed`."""

import asyncio
from pathlib import Path

from service.loading.acceptance import Safeguards
from service.progress import silent
from service.sources.url_source import UrlSource


def take_twice(cache: str, url: str) -> None:
    """Take what an origin holds, and then what it holds instead, as two runs of a service."""
    to = Path(cache).with_name("to-be-killed.baked")
    for _ in range(2):
        asyncio.run(UrlSource(url, Path(cache)).fetch(to, known="none", check=Safeguards().check, progress=silent))

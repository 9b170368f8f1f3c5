"""Work with an origin that tests kill: see `tests.killed`."""

import asyncio
from pathlib import Path

from service.progress import silent
from service.safeguards import Safeguards
from service.sources.url_source import UrlSource


def fetch_twice(cache: str, url: str) -> None:
    """Fetch twice from an origin, as two runs of the service."""
    to = Path(cache).with_name("to-be-killed.baked")
    for _ in range(2):
        asyncio.run(UrlSource(url, Path(cache)).fetch(to, known="none", check=Safeguards().check, progress=silent))

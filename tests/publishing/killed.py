"""Work with a remote file that tests kill: see `tests.killed`."""

import asyncio
from pathlib import Path

from service.background import silent
from service.dataset import Safeguards
from service.publishing.remote_source import RemoteBakedFile
from tests.publishing.fake_transport import FakeTransport, alternating
from tests.publishing.fetching import URL


def fetch_twice(cache: str, *editions: str) -> None:
    """Fetch each of two editions, as two runs of the service."""
    to, remote = Path(cache).with_name("to-be-killed.baked"), FakeTransport(b"")
    remote.usual = alternating(*(Path(edition).read_bytes() for edition in editions))
    for _ in range(2):
        source = RemoteBakedFile(URL, Path(cache), remote)
        asyncio.run(source.fetch(to, known="none", check=Safeguards().check, progress=silent))

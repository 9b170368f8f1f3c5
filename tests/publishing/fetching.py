"""A short way to fetch from a transport."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from service.dataset import Rejected, Safeguards
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.source import Check, Fetched, Source, Unavailable
from tests.publishing.fake_transport import FakeTransport

URL: Final = "https://origin.example/set.baked"


class Fetcher:
    """A process that fetches from a transport into a file, with a cache."""

    def __init__(
        self, remote: FakeTransport, folder: Path, *, url: str = URL, pauses: Sequence[float] = (0, 0)
    ) -> None:
        self.check: Check = Safeguards().check
        self.remote, self.cache, self.to = remote, folder / "cache", folder / "fetched.baked"
        self.source: Source = RemoteBakedFile(url, self.cache, remote, pauses=pauses)
        self.steps: list[tuple[str, int, int]] = []

    async def fetch(self, known: str = "") -> Fetched | None:
        self.to.unlink(missing_ok=True)
        return await self.source.fetch(self.to, known=known, check=self.check, progress=self._progress)

    def _progress(self, step: str, done: int, total: int) -> None:
        self.steps.append((step, done, total))

    async def fetched(self, known: str = "") -> tuple[str, bytes]:
        """Fetch; return the fingerprint and the bytes of the file."""
        fetched = await self.fetch(known)
        assert fetched is not None
        return fetched.fingerprint, self.to.read_bytes()

    async def unavailable(self, known: str = "") -> str:
        """Fetch; return the reason of `Unavailable`, without the name."""
        with pytest.raises(Unavailable) as caught:
            await self.fetch(known)
        return self._without_name(caught.value)

    async def rejected(self, known: str = "") -> tuple[str, str]:
        """Fetch; return the reason of `Rejected`, without the name, and its fingerprint."""
        with pytest.raises(Rejected) as caught:
            await self.fetch(known)
        assert caught.value.rejection.hint == ""
        return self._without_name(caught.value), caught.value.rejection.fingerprint

    def _without_name(self, error: Exception) -> str:
        assert str(error).startswith(f"{self.source.name}: ")
        return str(error).removeprefix(f"{self.source.name}: ")

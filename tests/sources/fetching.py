"""A short way to fetch from an origin."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientTimeout

from service.data_set import Rejected
from service.safeguards import Safeguards
from service.sources.source import Check, Fetched, Unavailable
from service.sources.url_source import UrlSource
from tests.program import SECONDS
from tests.sources.origin import Origin

LONG_TIMEOUT: Final = ClientTimeout(total=SECONDS)
# Enough for an origin in this process, even on a slow machine.
SHORT_TIMEOUT: Final = ClientTimeout(total=SECONDS, sock_read=0.5)


class Fetcher:
    """A process that fetches from an origin into a file, with a cache."""

    def __init__(
        self,
        origin: Origin,
        folder: Path,
        *,
        url: str = "",
        timeout: ClientTimeout = LONG_TIMEOUT,
        pauses: Sequence[float] = (0, 0, 0),
    ) -> None:
        self.check: Check = Safeguards().check
        self.origin, self.cache, self.to = origin, folder / "cache", folder / "fetched.baked"
        self.source = UrlSource(url or origin.url, self.cache, timeout=timeout, pauses=pauses)

    async def fetch(self, known: str = "") -> Fetched | None:
        self.to.unlink(missing_ok=True)
        return await self.source.fetch(self.to, known=known, check=self.check, progress=self.origin.progress)

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
        name, _, why = str(error).partition(": ")
        assert name == self.source.name
        return why

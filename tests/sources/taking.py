"""Taking from an origin, in as few words as tests need."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientTimeout

from service.loading.acceptance import Safeguards
from service.sources.source import Check, Fetched, Rejected, Unavailable
from service.sources.url_source import UrlSource
from tests.program import SECONDS
from tests.sources.origin import Origin

PATIENT: Final = ClientTimeout(total=SECONDS)
# Long enough for an origin in this process, on a slow machine, too.
IMPATIENT: Final = ClientTimeout(total=SECONDS, sock_read=0.5)


class Taker:
    """A process that takes from an origin, with a cache and a place for what it takes."""

    def __init__(
        self,
        origin: Origin,
        folder: Path,
        *,
        url: str = "",
        timeout: ClientTimeout = PATIENT,
        pauses: Sequence[float] = (0, 0, 0),
    ) -> None:
        self.check: Check = Safeguards().check
        self.origin, self.cache, self.to = origin, folder / "cache", folder / "taken.baked"
        self.source = UrlSource(url or origin.url, self.cache, timeout=timeout, pauses=pauses)

    async def take(self, seen: str = "") -> Fetched | None:
        self.to.unlink(missing_ok=True)
        return await self.source.fetch(self.to, known=seen, check=self.check, progress=self.origin.progress)

    async def taken(self, seen: str = "") -> tuple[str, bytes]:
        """Return the fingerprint and the bytes of what is taken."""
        taken = await self.take(seen)
        assert taken is not None
        return taken.fingerprint, self.to.read_bytes()

    async def unavailable(self, seen: str = "") -> str:
        """Return why nothing can be had, without the name."""
        with pytest.raises(Unavailable) as caught:
            await self.take(seen)
        return self._without_name(caught.value)

    async def rejected(self, seen: str = "") -> tuple[str, str]:
        """Return why what the origin holds is not served, without the name, and its fingerprint."""
        with pytest.raises(Rejected) as caught:
            await self.take(seen)
        return self._without_name(caught.value), caught.value.fingerprint

    def _without_name(self, error: Exception) -> str:
        name, _, why = str(error).partition(": ")
        assert name == self.source.name
        return why

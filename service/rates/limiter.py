"""Whether a key may ask once more: by the store of rates where there is one, else by this process alone."""

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from service.keys.rate import Rate
from service.rates.memory import Memory
from service.rates.store import Store, StoreFailed
from service.rates.taken import Taken

# After a failure one request in so many seconds tries the store; the others do not wait for it.
PAUSE_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


def _nothing() -> None:
    """Do nothing."""


class Limiter:
    """Decides about requests. Where the store does not, this process does, and lets its share through."""

    def __init__(
        self,
        memory: Memory,
        store: Store | None = None,
        *,
        failed: Callable[[], None] = _nothing,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """Decide by the memory of this process, which holds its share, or by a store.

        `failed` is called for each request about which the store did not decide.
        """
        self._memory, self._store = memory, store
        self._failed = failed
        self._pause_seconds = pause_seconds
        self._again: float | None = None  # when the store is tried again; None where it works

    def take(self, name: str, rate: Rate) -> Taken | Awaitable[Taken]:
        """Decide about a request of a key; there is something to wait for only where a store is asked."""
        if self._store is None:
            return self._memory.take(name, rate)
        if self._again is None:
            return self._asked(self._store, name, rate, tries=False)
        if monotonic() < self._again:
            return self._alone(name, rate)
        self._again = monotonic() + self._pause_seconds
        return self._asked(self._store, name, rate, tries=True)

    async def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            await self._store.close()

    def _alone(self, name: str, rate: Rate) -> Taken:
        self._failed()
        return self._memory.take(name, rate)

    async def _asked(self, store: Store, name: str, rate: Rate, *, tries: bool) -> Taken:
        try:
            taken = await store.take(name, rate)
        except StoreFailed as failure:
            if self._again is None:
                _log.warning("the store of rates fails (%s): each process keeps its share of a rate", failure)
            self._again = monotonic() + self._pause_seconds
            return self._alone(name, rate)
        if tries:  # and did not begin before the failure, as others may have that end well
            self._again = None
            _log.info("the store of rates decides again")
        return taken

"""The memory that the connections of a listener hold has a bound, and is returned to the system afterwards."""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final, Protocol

from service.web.pipeline.app import App

# Memory is released to the system once this part of the bound is free again.
_RELEASED_PART: Final = 8
# Wait this long first: the event loop frees the buffers of a closed connection only in its next iterations.
_RELEASE_SECONDS: Final = 1
# Connections that are looked at for an idle one, each time. Those behind them follow the next time.
_LOOKS: Final = 20


class Holder(Protocol):
    """A connection that holds memory: of received bytes, or of a response that is not sent."""

    def is_reading(self) -> bool:
        """Return whether its client receives a response."""

    def shed(self) -> None:
        """Abort the connection and release its memory."""


def release_free_memory(library: object = None) -> None:
    """Release unused memory to the system, if the C library can (malloc_trim(3)).

    Otherwise the memory of long responses stays with the process, fragmented by later allocations. `library` defaults
    to the process's own.
    """
    trim = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class MemoryBudget:
    """What the connections of a listener hold: heads under way, requests that wait, responses that are not sent.

    Beyond the bound the longest idle is dropped, but none whose client reads. So the application makes no long answer
    while the memory is used. A single connection may hold more.
    """

    def __init__(self, most: int, app: App, release: Callable[[], object] = release_free_memory) -> None:
        """Bound the sum to a number of bytes. Call `release`, in a thread, after much memory has become free."""
        self._most, self._app, self._release = most, app, release
        self._sizes: dict[Holder, int] = {}  # the longest idle first
        self.held = self._peak = 0  # bytes

    def hold(self, holder: Holder, size: int) -> None:
        """Count what a connection holds now in bytes, after it sent or received something."""
        self._count(holder, size)
        if self.held > self._most and size:
            self._make_room(holder)
        self._app.memory_used = self.held / self._most if len(self._sizes) > 1 else 0
        self._peak = max(self._peak, self.held)
        if self._peak - self.held > self._most // _RELEASED_PART and self.held < self._peak // 2:
            self._peak = self.held
            loop = asyncio.get_running_loop()
            loop.call_later(_RELEASE_SECONDS, loop.run_in_executor, None, self._release)

    def _count(self, holder: Holder, size: int) -> None:
        self.held += size - self._sizes.pop(holder, 0)
        if size:
            self._sizes[holder] = size

    def _make_room(self, last: Holder) -> None:
        """Drop idle connections, the one that has just been counted last of all."""
        for holder in [holder for holder, _ in zip(self._sizes, range(_LOOKS), strict=False)]:
            if holder.is_reading():
                self._count(holder, self._sizes[holder])  # no longer the longest idle
            else:
                holder.shed()
            if self.held <= self._most:
                return
        if last in self._sizes and len(self._sizes) > 1 and not last.is_reading():
            last.shed()

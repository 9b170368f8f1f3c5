"""Backpressure: the memory of responses that clients have not received is bounded, and released afterwards."""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final, Protocol

from service.web.connections.limits import MAX_UNSENT_BYTES

# Memory is released to the system once this much of it is free again.
_RELEASED_BYTES: Final = MAX_UNSENT_BYTES // 8
# Wait this long first: the event loop frees the buffers of a closed connection only in its next iterations.
_RELEASE_SECONDS: Final = 1


class Writer(Protocol):
    """A connection whose client is slow to receive a response."""

    @property
    def since(self) -> float:
        """When the client last received some of it."""

    def drop(self) -> None:
        """End the connection."""


def release_free_memory(library: object = None) -> None:
    """Release unused memory to the system, if the C library can (malloc_trim(3)).

    Otherwise the memory of long responses stays with the process, fragmented by later allocations. `library` defaults
    to the process's own.
    """
    trim = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class UnsentResponses:
    """The unsent responses of a listener, with at most MAX_UNSENT_BYTES of memory in total.

    Beyond that it drops the client that has made no progress for longest.
    """

    def __init__(self, release: Callable[[], object] = release_free_memory) -> None:
        """Call `release`, in a thread, after much memory has become free."""
        self._release = release
        self._sizes: dict[Writer, int] = {}
        self._total = self._peak = 0

    def add(self, writer: Writer, size: int) -> None:
        """Add a response that is not fully sent and holds `size` bytes of memory."""
        self._sizes[writer] = size
        self._total += size
        self._peak = max(self._peak, self._total)
        while self._total > MAX_UNSENT_BYTES:
            idlest = min(self._sizes, key=lambda each: each.since)
            self.remove(idlest)
            idlest.drop()

    def remove(self, writer: Writer) -> None:
        """Remove a response that is sent, or whose connection is closed."""
        self._total -= self._sizes.pop(writer, 0)
        if self._peak - self._total > _RELEASED_BYTES and self._total < self._peak // 2:
            self._peak = self._total
            loop = asyncio.get_running_loop()
            loop.call_later(_RELEASE_SECONDS, loop.run_in_executor, None, self._release)

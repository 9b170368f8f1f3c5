"""Backpressure: what clients have not taken of their responses is bounded, and its memory given back."""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final, Protocol

from service.web.connections.limits import MAX_UNSENT_BYTES

# So much that was in use and is free again is worth giving back to the system.
_RELEASED_BYTES: Final = MAX_UNSENT_BYTES // 8
# The event loop frees the buffers of a closed connection within its next turns.
_RELEASE_SECONDS: Final = 1


class Writer(Protocol):
    """A connection whose client does not take a response."""

    @property
    def since(self) -> float:
        """When the client last took something of it."""

    def drop(self) -> None:
        """End the connection."""


def release_free_memory(library: object = None) -> None:
    """Give memory that is allocated but not in use back to the system, where the C library can (malloc_trim(3)).

    It would keep the memory of long responses: what is allocated later lies between free blocks. `library` is that of
    the process, unless another is given.
    """
    trim = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class UnsentResponses:
    """The responses of a listener that are not sent to their end; of their memory, up to MAX_UNSENT_BYTES in all.

    Beyond that the client is dropped that has taken nothing for longest.
    """

    def __init__(self, release: Callable[[], object] = release_free_memory) -> None:
        """Call `release`, in a thread, after much memory was in use that is free again."""
        self._release = release
        self._sizes: dict[Writer, int] = {}
        self._total = self._peak = 0

    def add(self, writer: Writer, size: int) -> None:
        """Count a response that a client has not taken all of, and that keeps `size` bytes of memory."""
        self._sizes[writer] = size
        self._total += size
        self._peak = max(self._peak, self._total)
        while self._total > MAX_UNSENT_BYTES:
            idlest = min(self._sizes, key=lambda each: each.since)
            self.remove(idlest)
            idlest.drop()

    def remove(self, writer: Writer) -> None:
        """Count it no more: it is sent, or its connection closed."""
        self._total -= self._sizes.pop(writer, 0)
        if self._peak - self._total > _RELEASED_BYTES and self._total < self._peak // 2:
            self._peak = self._total
            loop = asyncio.get_running_loop()
            loop.call_later(_RELEASE_SECONDS, loop.run_in_executor, None, self._release)

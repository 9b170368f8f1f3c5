"""A bounded cache (FIFO): values by key, up to so many bytes."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key, up to so many bytes in all; the oldest are evicted first.

    A key is a whole value: it holds everything that the cached value depends on, but for what owns the cache.
    First in, first out, not least recently used, so that a lookup is one lookup in a dictionary and nothing else.
    """

    def __init__(self, max_bytes: int) -> None:
        self._values: dict[Key, Value] = {}
        self._sizes: dict[Key, int] = {}
        self._bytes, self._max_bytes = 0, max_bytes
        self.get = self._values.get

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values.values())

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def put(self, key: Key, value: Value, size: int) -> None:
        """Add a value of `size` bytes under a key that has none, unless it alone exceeds the bound."""
        if size > self._max_bytes:
            return
        self._values[key], self._sizes[key] = value, size
        self._bytes += size
        while self._bytes > self._max_bytes:
            oldest = next(iter(self._sizes))
            del self._values[oldest]
            self._bytes -= self._sizes.pop(oldest)

    def clear(self) -> None:
        """Remove every value."""
        self._values.clear()
        self._sizes.clear()
        self._bytes = 0

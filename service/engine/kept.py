"""What was worked out, kept for the next who asks."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, up to so many bytes in all: the latest come in, the earliest go out.

    First in, first out, not least recently used: to look one up is then to look into a dictionary, and nothing else.
    """

    def __init__(self, most_bytes: int) -> None:
        self._values: dict[Hashable, Value] = {}
        self._sizes: dict[Hashable, int] = {}
        self._bytes, self._most_bytes = 0, most_bytes
        self.get = self._values.get

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values.values())

    def keep(self, key: Hashable, value: Value, size: int) -> None:
        """Keep a value of `size` bytes under a key that has none, unless it is too large by itself."""
        if size > self._most_bytes:
            return
        self._values[key], self._sizes[key] = value, size
        self._bytes += size
        while self._bytes > self._most_bytes:
            earliest = next(iter(self._sizes))
            del self._values[earliest]
            self._bytes -= self._sizes.pop(earliest)

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._sizes.clear()
        self._bytes = 0

"""A sequence of byte strings that lies in two plain buffers."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Texts:
    """Byte strings end to end: text i is `data[offsets[i]:offsets[i + 1]]`; `data` is bytes-like, `offsets` int64."""

    __slots__ = ("_places", "data", "offsets")

    def __init__(self, data: memoryview, offsets: NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets
        self._places = offsets.data  # gives one number several times faster than an array does

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Texts":
        """Lay texts end to end."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
        return cls(memoryview(b"".join(texts)), offsets)

    def __len__(self) -> int:
        return len(self._places) - 1

    def __getitem__(self, index: int) -> bytes:
        return bytes(self.data[self._places[index] : self._places[index + 1]])

    def find(self, text: bytes) -> int | None:
        """Return where a text stands, or None; the texts are sorted and distinct."""
        index = bisect_left(self, text)
        return index if index < len(self) and self[index] == text else None

    def slices(self, indices: NDArray[np.integer]) -> list[memoryview]:
        """Return the texts at some places, in that order, as views of the buffer: a single one where they are a run."""
        if len(indices) == 0:
            return []
        first, last = int(indices[0]), int(indices[-1])
        if last - first + 1 == len(indices) and bool((np.diff(indices) == 1).all()):
            return [self.data[self._places[first] : self._places[last + 1]]]
        starts, stops = self.offsets[indices].tolist(), self.offsets[indices + 1].tolist()
        return list(map(self.data.__getitem__, map(slice, starts, stops)))

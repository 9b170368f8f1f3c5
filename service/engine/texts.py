"""A sequence of byte strings that lies in two plain buffers."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

# At most so many texts stand as objects too: they are searched several times faster than texts in a buffer.
_FENCES: Final = 4096


class Texts:
    """Byte strings end to end: text i is `data[offsets[i]:offsets[i + 1]]`; `data` is bytes-like, `offsets` int64."""

    def __init__(self, data: memoryview, offsets: NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets
        self._places = offsets.data  # gives one number several times faster than an array does
        self._starts, self._stops = offsets[:-1], offsets[1:]

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
        step, fences = self._fences
        start = (bisect_right(fences, text) - 1) * step
        if start < 0:
            return None
        index = bisect_left(self, text, start, min(start + step, len(self)))
        return index if index < len(self) and self[index] == text else None

    @cached_property
    def _fences(self) -> tuple[int, list[bytes]]:
        """Every so manieth text."""
        step = max(-(-len(self) // _FENCES), 1)
        return step, [self[index] for index in range(0, len(self), step)]

    def slices(self, indices: NDArray[np.integer]) -> list[memoryview]:
        """Return the texts at some places, in that order, as views of the buffer: a single one where they are a run."""
        if len(indices) == 0:
            return []
        first, last = int(indices[0]), int(indices[-1])
        if last - first + 1 == len(indices) and bool((np.diff(indices) == 1).all()):
            return [self.data[self._places[first] : self._places[last + 1]]]
        data, places = self.data, indices.astype(np.intp)
        starts, stops = self._starts.take(places).tolist(), self._stops.take(places).tolist()
        return [data[start:stop] for start, stop in zip(starts, stops, strict=True)]

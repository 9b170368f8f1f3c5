"""A sequence of byte strings that lies in two plain buffers."""

from bisect import bisect_left
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray


class Texts(msgspec.Struct, frozen=True, eq=False):
    """Byte strings end to end: text i is `data[offsets[i]:offsets[i + 1]]`; `data` is bytes-like, `offsets` int64."""

    data: memoryview
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Texts":
        """Lay texts end to end."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
        return cls(memoryview(b"".join(texts)), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        start, stop = self.offsets[index : index + 2].tolist()
        return bytes(self.data[start:stop])

    def find(self, text: bytes) -> int | None:
        """Return where a text stands, or None; the texts are sorted and distinct."""
        index = bisect_left(self, text)
        return index if index < len(self) and self[index] == text else None

    def join(self, indices: NDArray[np.integer]) -> bytes:
        """Return the texts at some places, in that order, end to end."""
        if len(indices) == 0:
            return b""
        first, last = int(indices[0]), int(indices[-1])
        if last - first + 1 == len(indices) and bool((np.diff(indices) == 1).all()):
            start, stop = self.offsets[[first, last + 1]].tolist()
            return bytes(self.data[start:stop])
        starts, stops = self.offsets[indices].tolist(), self.offsets[indices + 1].tolist()
        return b"".join(map(self.data.__getitem__, map(slice, starts, stops)))

"""An array of byte strings in two plain buffers."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from service.engine.gathering import gather

# Maximum number of strings in the sparse index; searching Python objects is several times faster than the buffer.
_SPARSE_INDEX_SIZE: Final = 4096
_LINE_END: Final = 10
_MOST_NARROW: Final = 2**32 - 1
# A view of each of fewer strings costs less than to copy them all with NumPy.
_MANY: Final = 100

_Index = TypeVar("_Index", bound=np.integer[Any])


def narrow(offsets: NDArray[np.int64]) -> NDArray[np.integer]:
    """Return ascending offsets in 32 bits if they fit, else as they are."""
    return offsets.astype(np.uint32) if int(offsets[-1]) <= _MOST_NARROW else offsets


class StringArray:
    """Concatenated byte strings: string i is `data[offsets[i]:offsets[i + 1]]`; see `narrow` for their type."""

    def __init__(self, data: memoryview, offsets: NDArray[np.integer]) -> None:
        self.data = data
        self.offsets = offsets
        self._offsets = offsets.data  # reading one number is several times faster than from an array
        self._starts, self._stops = offsets[:-1], offsets[1:]

    @classmethod
    def of(cls, strings: Sequence[bytes]) -> "StringArray":
        """Concatenate strings."""
        offsets = np.zeros(len(strings) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
        return cls(memoryview(b"".join(strings)), narrow(offsets))

    @classmethod
    def of_array(cls, strings: NDArray[np.bytes_]) -> "StringArray":
        """Concatenate the strings of an array, which have no NULs."""
        characters = strings.view(np.uint8)
        offsets = np.append(0, np.strings.str_len(strings).cumsum())
        return cls(characters[characters != 0].data, narrow(offsets))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        return bytes(self.view(index))

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = bytes(self.data), self.offsets.tolist()
        return map(data.__getitem__, map(slice, offsets, offsets[1:]))

    def part(self, start: int, stop: int) -> "StringArray":
        """Return the strings from one index to another, as an array on the same buffer."""
        offsets = self.offsets[start : stop + 1]
        return StringArray(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])

    def view(self, index: int) -> memoryview:
        """Return a string as a view of the buffer."""
        return self.data[self._offsets[index] : self._offsets[index + 1]]

    def find(self, string: bytes) -> int | None:
        """Return the index of a string, or None; the strings must be sorted and distinct."""
        step, sample = self._sparse_index
        place = bisect_right(sample, string) - 1
        if place < 0:
            return None
        start = place * step
        if sample[place] == string:
            return start
        end = min(start + step, len(self))
        index = bisect_left(self, string, start + 1, end)
        return index if index < end and self[index] == string else None

    def bisect(self, string: bytes) -> int:
        """Return the number of strings that sort before a string; the strings must be sorted."""
        step, sample = self._sparse_index
        place = max(bisect_left(sample, string) - 1, 0)
        return bisect_left(self, string, place * step, min((place + 1) * step, len(self)))

    @cached_property
    def _sparse_index(self) -> tuple[int, list[bytes]]:
        """A step, and every `step`-th string."""
        step = max(-(-len(self) // _SPARSE_INDEX_SIZE), 1)
        return step, [self[index] for index in range(0, len(self), step)]

    def chunks(self, indices: NDArray[np.integer]) -> list[memoryview]:
        """Return the strings at some indices, in that order, as chunks that concatenate to the same bytes.

        Consecutive strings are one view of the buffer, many others one writable copy, the rest a view each.
        """
        if len(indices) == 0:
            return []
        first, last = int(indices[0]), int(indices[-1])
        if last - first + 1 == len(indices) and bool((np.diff(indices) == 1).all()):
            return [self.data[self._offsets[first] : self._offsets[last + 1]]]
        data, wide = self.data, indices.astype(np.intp)
        starts, stops = self._starts.take(wide), self._stops.take(wide)
        if len(wide) >= _MANY and (joined := gather(data, starts, stops - starts)) is not None:
            return [joined]
        return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def joined(self, indices: NDArray[np.integer]) -> tuple[bytearray, NDArray[np.int64]]:
        """Return the strings at some indices, in that order, in a new buffer, and where each ends in it."""
        wide = indices.astype(np.intp)
        ends = (self._stops.take(wide) - self._starts.take(wide)).cumsum(dtype=np.int64)
        return bytearray().join(self.chunks(indices)), ends

    def lines(self, indices: NDArray[np.integer]) -> memoryview:
        """Return the strings at some indices, in that order, in a new buffer, with LF in place of their last bytes."""
        joined, ends = self.joined(indices)
        lines = np.frombuffer(joined, np.uint8)
        lines[ends - 1] = _LINE_END
        return lines.data

    def parts(self, indices: NDArray[_Index], size: int) -> Iterator[NDArray[_Index]]:
        """Yield the indices in parts, each as long as its strings have at most `size` bytes, but at least one."""
        wide = indices.astype(np.intp)
        ends = (self._stops.take(wide) - self._starts.take(wide)).cumsum()
        start, before = 0, 0
        while start < len(indices):
            stop = max(int(ends.searchsorted(before + size, "right")), start + 1)
            yield indices[start:stop]
            start, before = stop, int(ends[stop - 1])

    def views(self, indices: NDArray[np.integer], *, without: int) -> list[memoryview]:
        """Return the strings at some indices, in that order, each as a view without its last bytes."""
        data, wide = self.data, indices.astype(np.intp)
        starts, stops = self._starts.take(wide).tolist(), (self._stops.take(wide) - without).tolist()
        return [data[start:stop] for start, stop in zip(starts, stops, strict=True)]

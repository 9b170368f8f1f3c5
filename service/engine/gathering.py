"""Concatenate many strings of a buffer, or ranges of integers, without a Python object for each."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

# The most that is copied for each byte of the result: one long string among short ones would multiply the work.
_MAX_COPIED: Final = 2


def gather(data: memoryview, starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> memoryview | None:
    """Return strings of a buffer, concatenated in a new one; None if their lengths or places do not suit.

    Each is copied with what follows it, as wide as the longest, and the next one is then written over the surplus:
    NumPy assigns items in the order of their indices.
    """
    width, stops = int(lengths.max()), lengths.cumsum()
    total = int(stops[-1])
    if not 0 < width * len(starts) <= _MAX_COPIED * total or int(starts.max()) + width > len(data):
        return None
    # Reading one byte of each first lets the processor wait for all of them at once.
    np.frombuffer(data, np.uint8).take(starts)
    item, joined = np.dtype((np.void, width)), np.empty(total + width, np.uint8)
    source = np.ndarray((len(data) - width + 1,), item, data, strides=(1,))
    target = np.ndarray((total + 1,), item, joined.data, strides=(1,))
    target[stops - lengths] = source[starts]
    return joined.data[:total]


def expand(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the integers of ranges, one range after the other."""
    if (lengths == 1).all():
        return starts
    ends = lengths.cumsum(dtype=np.int64)
    integers: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)
    return integers

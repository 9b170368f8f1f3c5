"""Bitmaps: sets of positions, one bit each, with fast intersection."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bitmap = NDArray[np.uint64]
_WORD_BITS: Final = 64


def pack(mask: NDArray[np.bool_]) -> Bitmap:
    """Return a mask as a bitmap of 64-bit words, position 0 in the lowest bit; bits past the end are 0."""
    data = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-len(mask) // _WORD_BITS), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


def unpack(bitmap: Bitmap, count: int) -> NDArray[np.bool_]:
    """Return a bitmap as a mask of some positions."""
    return np.unpackbits(bitmap.view(np.uint8), count=count, bitorder="little").view(np.bool_)


def count_between(bitmap: Bitmap, bounds: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how many bits are set from each bound, a position, to the next."""
    words, bits = np.divmod(bounds, _WORD_BITS)
    lower = (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)  # the bits of a word below a bound
    before = np.zeros(len(bitmap) + 1, np.int64)
    np.cumsum(np.bitwise_count(bitmap), out=before[1:])
    below = before[words] + np.bitwise_count(np.append(bitmap, np.uint64(0))[words] & lower)
    counts: NDArray[np.int64] = np.diff(below)
    return counts


def positions(bitmap: Bitmap) -> NDArray[np.intp]:
    """Return the positions of the bits that are set, ascending."""
    return np.unpackbits(bitmap.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]


def is_set(bitmap: Bitmap, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return for each position whether its bit is set."""
    data = bitmap.view(np.uint8)
    bits: NDArray[np.uint8] = data[positions >> 3] >> (positions & 7).astype(np.uint8) & 1
    return bits.view(np.bool_)

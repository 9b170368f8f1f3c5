"""Bitmaps: sets of positions, one bit each, with fast intersection."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bitmap = NDArray[np.uint64]
_WORD_SHIFT: Final = 6
_BIT: Final = 63
_ONE, _LAST = np.uint64(1), np.uint64(_BIT)
_BYTE_SHIFT: Final = 3
_BYTE_BIT: Final = 7
# If fewer than one word in this many has a bit set, the others are skipped.
_SPARSE: Final = 4
# If at most one bit in this many is set, NumPy looks for each, which takes several times as long: then, of many words,
# bytes without any are skipped, too.
_FEW_BITS: Final = 10
_MANY_WORDS: Final = 512
# If a condition matches less than 1 / 64 of the rows, intersecting lists of rows and sorting is cheaper.
_DENSE: Final = 64


def is_dense(count: int, length: int) -> bool:
    """Return whether a bitmap of so many positions out of `length` is cheaper than their list."""
    return count >= least_dense(length)


def least_dense(length: int) -> int:
    """Return how many positions out of `length` are the fewest whose bitmap is cheaper than their list."""
    return -(-length // _DENSE) if length > _DENSE else length + 1


def word_count(length: int) -> int:
    """Return the number of words of a bitmap of `length` positions."""
    return (length >> _WORD_SHIFT) + 1


def pack(mask: NDArray[np.bool_]) -> Bitmap:
    """Return a mask as a bitmap of 64-bit words, position 0 in the lowest bit; at least one bit past the end, all 0."""
    data = np.packbits(mask, bitorder="little")
    words = np.zeros(word_count(len(mask)), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


def unpack(bitmap: Bitmap, count: int) -> NDArray[np.bool_]:
    """Return a bitmap as a mask of some positions."""
    return np.unpackbits(bitmap.view(np.uint8), count=count, bitorder="little").view(np.bool_)


def count(bitmap: Bitmap) -> int:
    """Return how many bits are set."""
    return int(np.bitwise_count(bitmap).sum())


def counts_before(bitmap: Bitmap) -> NDArray[np.int32]:
    """Return how many bits are set before each word, and in all."""
    return np.append(np.int32(0), np.bitwise_count(bitmap).cumsum(dtype=np.int32))


def ranks(bitmap: Bitmap, before: NDArray[np.int32], positions: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return how many bits are set before each of some positions, given the counts before each word."""
    words, bits = positions >> _WORD_SHIFT, (positions & _BIT).astype(np.uint64)
    lower = (_ONE << bits) - _ONE  # the bits of a word below a position
    return before.take(words) + np.bitwise_count(bitmap.take(words) & lower)


def count_between(bitmap: Bitmap, bounds: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how many bits are set from each bound, a position, to the next."""
    return np.diff(ranks(bitmap, counts_before(bitmap), bounds)).astype(np.int64)


def positions(bitmap: Bitmap) -> NDArray[np.intp]:
    """Return the positions of the bits that are set, ascending."""
    words = bitmap.nonzero()[0]
    if len(words) > _MANY_WORDS and count(bitmap) * _FEW_BITS <= len(bitmap) << _WORD_SHIFT:
        return _positions_by_byte(bitmap.view(np.uint8))
    if len(words) * _SPARSE > len(bitmap):
        return _positions(bitmap.view(np.uint8))
    found = _positions(bitmap.take(words).view(np.uint8))
    return (words << _WORD_SHIFT).take(found >> _WORD_SHIFT) + (found & _BIT)


def _positions_by_byte(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    used = (data != 0).nonzero()[0]
    found = _positions(data.take(used))
    firsts: NDArray[np.intp] = (used << _BYTE_SHIFT).take(found >> _BYTE_SHIFT)
    return firsts + (found & _BYTE_BIT)


def _positions(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    return np.unpackbits(data, bitorder="little").view(np.bool_).nonzero()[0]


def edges_of_runs(bitmap: Bitmap) -> Bitmap:
    """Return the positions at which runs of bits that are set begin, and those after their ends."""
    before = bitmap << _ONE
    before[1:] |= bitmap[:-1] >> _LAST
    return bitmap ^ before


def is_set(bitmap: Bitmap, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return for each position whether its bit is set."""
    data = bitmap.view(np.uint8)
    bits: NDArray[np.uint8] = data[positions >> _BYTE_SHIFT] >> (positions & _BYTE_BIT).astype(np.uint8) & 1
    return bits.view(np.bool_)

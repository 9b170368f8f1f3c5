"""A set of places as bits: cheap to intersect, whatever is in it."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_BITS: Final = 64


def pack(mask: NDArray[np.bool_]) -> Words:
    """Return a mask as words of 64 bits, the first place in the lowest bit; bits past the end are 0."""
    data = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-len(mask) // _BITS), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


def members(words: Words) -> NDArray[np.intp]:
    """Return the places whose bits are set, ascending."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]

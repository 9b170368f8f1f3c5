"""A set of places as bits: cheap to intersect and to count, whatever is in it."""

import msgspec
import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_BITS = 64


def pack(mask: NDArray[np.bool_]) -> Words:
    """Return a mask as words of 64 bits, the first place in the lowest bit; bits past the end are 0."""
    data = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-len(mask) // _BITS), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


class Bitmap(msgspec.Struct, frozen=True, eq=False):
    """A set of places; `ends[i]` is how many of them stand in the words up to and with word i."""

    words: Words
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, words: Words) -> "Bitmap":
        """Count the bits of words."""
        return cls(words, np.cumsum(np.bitwise_count(words), dtype=np.int64))

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def nbytes(self) -> int:
        """The bytes of its arrays."""
        return self.words.nbytes + self.ends.nbytes

    def before(self, place: int) -> int:
        """Return how many members stand before a place."""
        word, bit = divmod(place, _BITS)
        whole = int(self.ends[word - 1]) if word else 0
        return whole + ((int(self.words[word]) & ((1 << bit) - 1)).bit_count() if bit else 0)

    def members(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the members from the one with number `start` up to `stop`, ascending."""
        if start >= stop:
            return np.empty(0, np.int64)
        first, last = (int(self.ends.searchsorted(number, "right")) for number in (start, stop - 1))
        skipped = int(self.ends[first - 1]) if first else 0
        bits = np.unpackbits(self.words[first : last + 1].view(np.uint8), bitorder="little").view(np.bool_)
        members: NDArray[np.int64] = bits.nonzero()[0][start - skipped : stop - skipped]
        members += first * _BITS
        return members

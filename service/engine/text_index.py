"""A text index: the words of the rows of a table, and the rows of each word."""

from functools import reduce
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, is_dense, is_set, pack, positions, unpack, word_count
from service.engine.bounded_cache import BoundedCache
from service.engine.column import Rows
from service.engine.long_work import announce
from service.engine.string_array import StringArray
from service.model.words import Term

_CACHE_BYTES: Final = 16 << 20
# To make a bitmap takes as long as to look at this part of all rows.
_PACKED_PART: Final = 32
# Looking rows up in more bitmaps takes longer than to combine these.
_FEW: Final = 4
_AFTER_TEXT: Final = b"\xff"  # sorts after every text in UTF-8


class DenseWords(msgspec.Struct, frozen=True, eq=False):
    """The words of so many rows that a bitmap of these takes less time than their list, and no more memory at that.

    numbers  their numbers among all words, ascending
    counts   the number of rows of each
    bitmaps  the bitmap of the rows of each, one after the other
    """

    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]
    bitmaps: Bitmap


class TextIndex:
    """The rows of each word. Immutable.

    words     the sorted distinct words in UTF-8
    starts    word -> start of its postings; the last item is their number
    postings  the rows of each word, ascending; none of a dense word
    dense     the dense words
    length    the number of rows of the table

    It caches the last bitmaps that are not those of one word, which depend only on their term and the index.
    """

    def __init__(
        self, words: StringArray, starts: NDArray[np.integer], postings: Rows, dense: DenseWords, length: int
    ) -> None:
        self.words, self.starts, self.postings, self.dense, self.length = words, starts, postings, dense, length
        self.dense_bitmaps = dense.bitmaps.reshape(-1, word_count(length))
        self._bitmaps = BoundedCache[Term, Bitmap](_CACHE_BYTES)

    def match(self, term: Term) -> "TermMatch":
        """Return what matches a term."""
        word = term.word.encode()
        first = self.words.bisect(word)
        if term.is_prefix:
            stop = self.words.bisect(word + _AFTER_TEXT)
        else:
            stop = first + (first < len(self.words) and self.words[first] == word)
        postings = self.postings[self.starts[first] : self.starts[stop]]
        begin, end = self.dense.numbers.searchsorted((first, stop)).tolist()
        count = len(postings) + int(self.dense.counts[begin:end].sum()) if begin < end else len(postings)
        return TermMatch(self, term, postings, self.dense_bitmaps[begin:end], stop - first, count)

    def bitmap(self, match: "TermMatch") -> Bitmap:
        """Return the bitmap of the rows that match a term. Recent ones are cached, but for those in the index."""
        if match.word_count == len(match.dense) == 1:
            bitmap: Bitmap = match.dense[0]
            return bitmap
        cached = self._bitmaps.get(match.term)
        if cached is None:
            announce(len(match.postings) + (1 + len(match.dense)) * self.length // _PACKED_PART)
            cached = reduce(np.bitwise_or, match.dense, pack(match.mask_of_postings()))
            self._bitmaps.put(match.term, cached, cached.nbytes)
        return cached


class TermMatch(msgspec.Struct, frozen=True, eq=False):
    """The matches of a term, which consecutive words are.

    postings    those of the words, concatenated
    dense       the bitmaps of the dense words among them
    word_count  the number of words
    count       the number of rows, or more: a row may have several words with a prefix
    """

    index: TextIndex
    term: Term
    postings: Rows
    dense: NDArray[np.uint64]
    word_count: int
    count: int

    @property
    def is_dense(self) -> bool:
        """Whether a bitmap is cheaper than the postings."""
        return is_dense(self.count, self.index.length)

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        if self.is_dense:
            return positions(self.bitmap()).astype(np.int32)
        if self.word_count <= 1:
            return self.postings
        rows: Rows = np.sort(self.postings)  # several times as fast as np.unique
        distinct: Rows = rows[np.append(True, rows[1:] != rows[:-1])]
        return distinct

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        if len(self.dense) > _FEW or is_dense(len(self.postings), self.index.length):
            return is_set(self.bitmap(), rows)
        found = [is_set(bitmap, rows) for bitmap in self.dense]
        if len(self.postings):
            announce(len(self.postings))
            found.append(_are_in(rows, self.postings if self.word_count == 1 else np.sort(self.postings)))
        return reduce(np.logical_or, found) if found else np.zeros(len(rows), np.bool_)

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""
        return unpack(self.bitmap(), self.index.length)

    def mask_of_postings(self) -> NDArray[np.bool_]:
        """Return for each row whether it has one of the words that are not dense."""
        mask = np.zeros(self.index.length, np.bool_)
        mask[self.postings.astype(np.intp)] = True  # which NumPy would convert to more slowly
        return mask

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows."""
        return self.index.bitmap(self)


def _are_in(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Return for each of some rows whether it is among others; both are ascending. The fewer are searched for."""
    if len(rows) <= len(others):
        found: NDArray[np.bool_] = others.take(others.searchsorted(rows), mode="clip") == rows
        return found
    places = rows.searchsorted(others)
    found = np.zeros(len(rows), np.bool_)
    found[places[rows.take(places, mode="clip") == others]] = True
    return found

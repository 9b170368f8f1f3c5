"""A text index: the words of the rows of a table, and the rows of each word."""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, is_dense, is_set, pack, positions
from service.engine.bounded_cache import BoundedCache
from service.engine.column import Rows
from service.engine.long_work import announce
from service.engine.string_array import StringArray
from service.model.words import Term

_CACHE_BYTES: Final = 16 << 20
# Searching a row in sorted postings costs as much as marking this many postings in a bitmap.
_SEARCH_COST: Final = 16
_AFTER_TEXT: Final = b"\xff"  # sorts after every text in UTF-8


class TextIndex:
    """The rows of each word. Immutable.

    words     the sorted distinct words in UTF-8
    starts    word -> start of its postings; the last item is their number
    postings  the rows of each word, ascending
    length    the number of rows of the table

    It caches the last bitmaps, which depend only on their term and the index.
    """

    def __init__(self, words: StringArray, starts: NDArray[np.integer], postings: Rows, length: int) -> None:
        self.words, self.starts, self.postings, self.length = words, starts, postings, length
        self._bitmaps = BoundedCache[Term, Bitmap](_CACHE_BYTES)

    def match(self, term: Term) -> "TermMatch":
        """Return what matches a term."""
        word = term.word.encode()
        first = self.words.bisect(word)
        if term.is_prefix:
            stop = self.words.bisect(word + _AFTER_TEXT)
        else:
            stop = first + (first < len(self.words) and self.words[first] == word)
        return TermMatch(self, term, self.postings[self.starts[first] : self.starts[stop]], stop - first)

    def bitmap(self, match: "TermMatch") -> Bitmap:
        """Return the bitmap of the rows that match a term. Recent ones are cached."""
        bitmap = self._bitmaps.get(match.term)
        if bitmap is None:
            announce(match.count)
            bitmap = pack(match.mask())
            self._bitmaps.put(match.term, bitmap, bitmap.nbytes)
        return bitmap


class TermMatch(msgspec.Struct, frozen=True, eq=False):
    """The matches of a term: the postings of consecutive words, concatenated."""

    index: TextIndex
    term: Term
    postings: Rows
    word_count: int

    @property
    def count(self) -> int:
        """The number of postings: at least the number of rows, which may have several words with a prefix."""
        return len(self.postings)

    @property
    def is_dense(self) -> bool:
        """Whether a bitmap is cheaper than the postings."""
        return is_dense(self.count, self.index.length)

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        if self.word_count <= 1:
            return self.postings
        if self.is_dense:
            return positions(self.bitmap()).astype(np.int32)
        rows: Rows = np.sort(self.postings)  # several times as fast as np.unique
        distinct: Rows = rows[np.append(True, rows[1:] != rows[:-1])]
        return distinct

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        if not self.count:
            return np.zeros(len(rows), np.bool_)
        if self.is_dense and (self.word_count > 1 or len(rows) * _SEARCH_COST > self.count):
            return is_set(self.bitmap(), rows)
        postings = self.postings if self.word_count == 1 else np.sort(self.postings)
        found: NDArray[np.bool_] = postings.take(postings.searchsorted(rows), mode="clip") == rows
        return found

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""
        mask = np.zeros(self.index.length, np.bool_)
        mask[self.postings.astype(np.intp)] = True  # which NumPy would convert to more slowly
        return mask

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows."""
        return self.index.bitmap(self)

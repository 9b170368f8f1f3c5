"""A text index: the words of the rows of a table, and the rows of each word."""

from collections.abc import Iterator
from functools import reduce
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.bounded_cache import BoundedCache
from service.engine.columns.column import KEY_END, NULL_KEY, Column, Rows, StringArray, expand, narrow, union
from service.engine.columns.ranking import Codes, keep, rank, rank_few, spooled
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    Bitmap,
    bit_positions,
    is_set,
    least_dense,
    pack,
    word_count,
)
from service.model.words import Term, words_of_lines
from service.spool import Spool, Spools

_CACHE_BYTES: Final = 15 << 20
# To make a bitmap takes as long as to look at this part of all rows.
_PACKED_PART: Final = 32
# Looking rows up in more bitmaps takes longer than to combine these.
_FEW: Final = 4


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

    def __init__(  # noqa: PLR0913 - the parts of an index
        self,
        words: StringArray,
        starts: NDArray[np.integer],
        postings: Rows,
        dense: DenseWords,
        length: int,
        *,
        cache_bytes: int = _CACHE_BYTES,
    ) -> None:
        self.words, self.starts, self.postings, self.dense, self.length = words, starts, postings, dense, length
        self.least_dense = least_dense(length)
        self.dense_bitmaps = dense.bitmaps.reshape(-1, word_count(length))
        self.bitmaps = BoundedCache[Term, Bitmap](cache_bytes)

    def match(self, term: Term) -> "TermMatch":
        """Return what matches a term."""
        if term.is_prefix:
            words = self.words.beginning(term.word)
        else:
            word = self.words.find(term.word)
            words = range(0) if word is None else range(word, word + 1)
        postings = self.postings[self.starts[words.start] : self.starts[words.stop]]
        begin, end = self.dense.numbers.searchsorted((words.start, words.stop)).tolist()
        count = len(postings) + int(self.dense.counts[begin:end].sum()) if begin < end else len(postings)
        return TermMatch(self, term, postings, self.dense_bitmaps[begin:end], len(words), count)


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

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        if self.count >= self.index.least_dense:
            return bit_positions(self.bitmap()).astype(np.int32)
        if self.word_count <= 1:
            return self.postings
        return union([self.postings])

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        if len(self.dense) > _FEW or len(self.postings) >= self.index.least_dense:
            return is_set(self.bitmap(), rows)
        found = [is_set(bitmap, rows) for bitmap in self.dense]
        if len(self.postings):
            spend(len(self.postings))
            found.append(_are_in(rows, self.postings if self.word_count == 1 else np.sort(self.postings)))
        return reduce(np.logical_or, found) if found else np.zeros(len(rows), np.bool_)

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows. Recent ones are cached, but for those in the index."""
        if self.word_count == len(self.dense) == 1:
            bitmap: Bitmap = self.dense[0]
            return bitmap
        length, cached = self.index.length, self.index.bitmaps.get(self.term)
        if cached is None:
            spend(len(self.postings) + (1 + len(self.dense)) * length // _PACKED_PART)
            mask = np.zeros(length, np.bool_)
            mask[self.postings.astype(np.intp)] = True  # which NumPy would convert to more slowly
            cached = reduce(np.bitwise_or, self.dense, pack(mask))
            self.index.bitmaps.put(self.term, cached, cached.nbytes)
        return cached


def _are_in(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Return for each of some rows whether it is among others; both are ascending. The fewer are searched for."""
    if len(rows) <= len(others):
        found: NDArray[np.bool_] = others.take(others.searchsorted(rows), mode="clip") == rows
        return found
    positions = rows.searchsorted(others)
    found = np.zeros(len(rows), np.bool_)
    found[positions[rows.take(positions, mode="clip") == others]] = True
    return found


_Integers: TypeAlias = NDArray[np.int64]

_TEXTS: Final = 1 << 13  # texts cut at once: their chunks fit the processor's cache
# ASCII letters in lower case; anything else in ASCII but digits ends a chunk, which may be empty.
_ASCII_GAPS: Final = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_TO_CHUNKS: Final = bytes(range(256)).lower().translate(bytes.maketrans(_ASCII_GAPS, NULL_KEY * len(_ASCII_GAPS)))
_BEYOND_ASCII: Final = 128
_DELETED: Final = b"'`"  # the apostrophes in ASCII
_CHUNK: Final = np.dtype([("code", np.int32), ("number", np.int32)])  # the code of its text, and its own number
_AT_ONCE: Final = 1 << 16  # chunks or pairs worked on at once: they fit the processor's cache
_PAIR_BITS: Final = 64
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


class TextIndexBuilder:
    """Collects the words of the texts of columns, and builds the index.

    A chunk is numbered and split once among the texts that are cut at once, so that few are ranked together.
    """

    def __init__(self, spools: Spools) -> None:
        self._spools, self._split, self._count = spools, spools.new(), 0
        # Of the texts cut at once, the number of words that each chunk has, and of rows that have it.
        self._lengths, self._rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._columns: list[tuple[Column, Spool]] = []

    def add(self, column: Column, texts: StringArray) -> None:
        """Add a text in UTF-8 for each distinct value of a column: all rows with the value have it."""
        chunks, rows = self._spools.new(), np.diff(column.starts)
        for begin in range(0, len(texts), _TEXTS):
            joined, counts = _cut(texts.part(begin, min(begin + _TEXTS, len(texts))))
            numbers, distinct = rank_few(joined)
            some = np.empty(len(numbers), _CHUNK)
            some["code"] = np.arange(begin, begin + len(counts)).repeat(counts)
            some["number"] = numbers + self._count
            chunks.append(some.view(np.uint8).data)
            words, lengths = _words(distinct)
            self._split.append(words)
            self._lengths.append(lengths)
            self._rows.append(np.bincount(numbers, rows[begin : begin + len(counts)].repeat(counts)).astype(np.int64))
            self._count += len(lengths)
        self._columns.append((column, chunks))

    def build(self, length: int) -> TextIndex:
        """Return the index of a table with this many rows; the builder cannot be used afterwards."""
        every, distinct = rank(self._split, self._spools)
        lengths = np.concatenate(self._lengths)
        starts = lengths.cumsum() - lengths
        totals = np.bincount(every, np.concatenate(self._rows).repeat(lengths), len(distinct)).astype(np.int64)
        counts, postings = np.zeros(len(distinct) + 1, np.int64), self._spools.new()
        for first, stop in _ranges(totals, self._spools.share):
            pairs, end = np.empty(totals[first:stop].sum(), np.int64), 0
            for column, codes, ranks in self._words(every, starts, lengths):
                chosen = slice(None) if stop - first == len(distinct) else (ranks >= first) & (ranks < stop)
                found = _pairs(column, codes[chosen], ranks[chosen])
                end += len(found)
                pairs[end - len(found) : end] = found
            pairs.sort()
            for found, rows in _distinct(pairs):
                firsts = np.diff(found, prepend=-1).nonzero()[0]
                counts[found[firsts] + 1] += np.diff(firsts, append=len(found))
                postings.append(rows.data)
        return self._index(distinct, counts, spooled(postings, np.dtype(np.int32)), length)

    def _index(self, words: StringArray, counts: _Integers, postings: Rows, length: int) -> TextIndex:
        """Return the index of words, given after a 0 the number of rows of each, and these one after the other."""
        numbers = (counts[1:] >= least_dense(length)).nonzero()[0]
        starts, bitmaps, others, end = counts.cumsum(), self._spools.new(), self._spools.new(), 0
        for start, stop in zip(starts[numbers].tolist(), starts[numbers + 1].tolist(), strict=True):
            others.append(postings[end:start].data)
            mask = np.zeros(length, np.bool_)
            mask[postings[start:stop]] = True
            bitmaps.append(pack(mask).data)
            end = stop
        others.append(postings[end:].data)
        dense = DenseWords(
            numbers.astype(np.int32), counts[numbers + 1].astype(np.int32), spooled(bitmaps, np.dtype(np.uint64))
        )
        counts[numbers + 1] = 0
        starts = keep(narrow(counts.cumsum()), self._spools)
        return TextIndex(words, starts, spooled(others, np.dtype(np.int32)), dense, length)

    def _words(self, ranks: Codes, starts: _Integers, lengths: _Integers) -> Iterator[tuple[Column, Codes, Codes]]:
        """Yield the words of all texts in parts: of some words their column, the codes of their texts, their ranks.

        The words of chunk number i have `lengths[i]` of the `ranks`, from `starts[i]` on.
        """
        for column, spool in self._columns:
            found = spooled(spool, _CHUNK)
            for start in range(0, len(found), _AT_ONCE):
                some = found[start : start + _AT_ONCE]
                counts = lengths[some["number"]]
                yield column, some["code"].repeat(counts), ranks[expand(starts[some["number"]], counts)]


def _cut(texts: StringArray) -> tuple[bytes, _Integers]:
    """Return the chunks of some texts, in the format of `join_keys`, and the number of chunks of each."""
    chunks = texts.ended(KEY_END).translate(_TO_CHUNKS, _DELETED)
    characters = np.frombuffer(chunks, np.uint8)
    ends, of_texts = (characters >= KEY_END[0]).nonzero()[0], (characters == KEY_END[0]).nonzero()[0]
    return chunks.replace(NULL_KEY, KEY_END), np.diff(ends.searchsorted(of_texts, "right"), prepend=0)


def _words(chunks: bytes) -> tuple[bytes, _Integers]:
    """Return the words of sorted chunks, both in the format of `join_keys`, and the number of words of each."""
    characters = np.frombuffer(chunks, np.uint8)
    ends = (characters == KEY_END[0]).nonzero()[0]
    lengths = np.minimum(np.diff(ends, prepend=-1) - 1, 1)  # in ASCII a chunk is a word, if it is not empty
    beyond = ((characters >= _BEYOND_ASCII) & (characters < KEY_END[0])).nonzero()[0]
    if not len(beyond):
        return chunks.removeprefix(KEY_END), lengths
    words, numbers = chunks.split(KEY_END)[:-1], np.unique(ends.searchsorted(beyond)).tolist()
    split = words_of_lines(b"\n".join([words[number] for number in numbers]).decode())
    for number, found in zip(numbers, split, strict=True):
        words[number], lengths[number] = KEY_END.join([word.encode() for word in found]), len(found)
    return KEY_END.join([*filter(None, words), b""]), lengths


def _ranges(totals: _Integers, size: int) -> Iterator[tuple[int, int]]:
    """Yield consecutive ranges of words whose pairs take at most `size` bytes, or one word."""
    ends, first = totals.cumsum(), 0
    while first < len(totals):
        before = ends[first] - totals[first]
        stop = max(int(ends.searchsorted(before + size * 8 // _PAIR_BITS, "right")), first + 1)
        yield first, stop
        first = stop


def _pairs(column: Column, codes: Codes, ranks: Codes) -> _Integers:
    """Return the pairs of each word of some texts and each row with the text, as one integer each."""
    first = column.starts[codes]
    lengths = column.starts[codes + 1] - first
    pairs: _Integers = np.repeat(ranks.astype(np.int64) << _ROW_BITS, lengths)
    pairs |= column.order[expand(first, lengths)]
    return pairs


def _distinct(pairs: _Integers) -> Iterator[tuple[_Integers, Rows]]:
    """Yield the words and rows of sorted pairs in parts, each pair once."""
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        before = pairs[start - 1] if start else -1
        once = some[some != np.append(before, some[:-1])]
        yield once >> _ROW_BITS, (once & _ROW_MASK).astype(np.int32)

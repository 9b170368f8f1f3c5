"""Build a text index from the distinct texts of columns.

A text is first cut into chunks at the ASCII characters that are in no word, many texts at once, as bytes. A chunk in
ASCII is a word; any other is split into its words once, however many texts contain it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import least_dense, pack
from service.engine.column import KEY_END, Column, Rows
from service.engine.gathering import expand
from service.engine.ranking import Codes, rank
from service.engine.spooled_arrays import keep, spooled
from service.engine.string_array import StringArray, narrow
from service.engine.text_index import DenseWords, TextIndex
from service.files.spool import Spool, Spools
from service.model.words import words

_Integers: TypeAlias = NDArray[np.int64]

_TEXTS: Final = 4096  # texts cut at once: their chunks fit the processor's cache
_END: Final = b"\n"
_GAP: Final = b" "
# ASCII letters in lower case; anything else in ASCII but digits ends a chunk.
_ASCII_GAPS: Final = bytes(byte for byte in range(128) if byte != _END[0] and not chr(byte).isalnum())
_TO_CHUNKS: Final = bytes(range(256)).lower().translate(bytes.maketrans(_ASCII_GAPS, _GAP * len(_ASCII_GAPS)))
_DELETED: Final = b"'`"  # the apostrophes in ASCII
_CHUNK: Final = np.dtype([("code", np.int32), ("number", np.int32)])  # the code of its text, and its own number
_AT_ONCE: Final = 1 << 16  # chunks or pairs worked on at once: they fit the processor's cache
_PAIR_BITS: Final = 64
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


class TextIndexBuilder:
    """Collects the chunks of the texts of columns, and builds the index."""

    def __init__(self, spools: Spools) -> None:
        self._spools = spools
        self._numbers = defaultdict[bytes, int](count().__next__)  # chunk -> its number, in order of appearance
        self._columns: list[tuple[Column, Spool]] = []

    def add(self, column: Column, texts: StringArray) -> None:
        """Add a text in UTF-8 for each distinct value of a column: all rows with the value have it."""
        chunks = self._spools.new()
        for begin in range(0, len(texts), _TEXTS):
            chunks.append(self._cut(texts, begin).view(np.uint8).data)
        self._columns.append((column, chunks))

    def build(self, length: int) -> TextIndex:
        """Return the index of a table with this many rows; the builder cannot be used afterwards."""
        word_count, distinct = self._split()
        totals = np.zeros(len(distinct), np.int64)
        for column, codes, ranks in self._words(word_count):
            np.add.at(totals, ranks, column.starts[codes + 1] - column.starts[codes])
        counts, postings = np.zeros(len(distinct) + 1, np.int64), self._spools.new()
        for first, stop in _ranges(totals, self._spools.share):
            pairs, end = np.empty(totals[first:stop].sum(), np.int64), 0
            for column, codes, ranks in self._words(word_count):
                chosen = (ranks >= first) & (ranks < stop)
                found = _pairs(column, codes[chosen], ranks[chosen])
                end += len(found)
                pairs[end - len(found) : end] = found
            pairs.sort()
            for found, rows in _distinct(pairs):
                np.add.at(counts, found + 1, 1)
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

    def _cut(self, texts: StringArray, begin: int) -> NDArray[np.void]:
        """Return the chunks of some texts."""
        some = list(texts.part(begin, min(begin + _TEXTS, len(texts))))
        data = _END.join([_END, *some])
        if data.count(_END) > len(some) + 1:
            data = _END.join([_END, *(text.replace(_END, _GAP) for text in some)])
        data = data.translate(_TO_CHUNKS, _DELETED)
        numbers = list(map(self._numbers.__getitem__, data.split()))
        characters = np.frombuffer(data, np.uint8)
        gaps = characters <= _GAP[0]
        starts = (gaps[:-1] > gaps[1:]).nonzero()[0]
        ends = (characters == _END[0]).nonzero()[0]
        chunks = np.empty(len(numbers), _CHUNK)
        chunks["code"], chunks["number"] = ends.searchsorted(starts, "right") + (begin - 2), numbers
        return chunks

    def _split(self) -> tuple["_WordsOfChunks", StringArray]:
        """Split each chunk into its words; return these, and the distinct words."""
        joined, counts, chunks = self._spools.new(), list[int](), iter(self._numbers)
        while some := list(islice(chunks, _TEXTS)):
            split = list(map(_words, some))
            counts += map(len, split)
            joined.append(KEY_END.join([*chain.from_iterable(split), b""]))
        self._numbers.clear()
        ranks, distinct = rank(joined, self._spools)
        lengths = np.array(counts, np.int64)
        return _WordsOfChunks(ranks, lengths, lengths.cumsum() - lengths), distinct

    def _words(self, word_count: "_WordsOfChunks") -> Iterator[tuple[Column, Codes, Codes]]:
        """Yield the words of all texts in parts: of some words their column, the codes of their texts, their ranks."""
        for column, spool in self._columns:
            chunks = spooled(spool, _CHUNK)
            for start in range(0, len(chunks), _AT_ONCE):
                some = chunks[start : start + _AT_ONCE]
                lengths = word_count.lengths[some["number"]]
                ranks = word_count.ranks[expand(word_count.starts[some["number"]], lengths)]
                yield column, np.repeat(some["code"], lengths), ranks


class _WordsOfChunks(msgspec.Struct, frozen=True, eq=False):
    """The words of chunk number i: `lengths[i]` of the `ranks`, from `starts[i]` on."""

    ranks: Codes
    lengths: _Integers
    starts: _Integers


def _words(chunk: bytes) -> Sequence[bytes]:
    """Return the words of a chunk."""
    return (chunk,) if chunk.isascii() else [word.encode() for word in words(chunk.decode())]


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

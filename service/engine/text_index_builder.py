"""Build a text index from the distinct texts of columns.

A text is first cut into chunks at the ASCII characters that are in no word, many texts at once, as bytes. A chunk in
ASCII is a word; any other is split into its words once, however many texts contain it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import KEY_END, Column, rank
from service.engine.string_array import StringArray
from service.engine.text_index import TextIndex
from service.model.words import words

Integers = NDArray[np.int64]

_TEXTS: Final = 4096  # texts cut at once: their chunks fit the processor's cache
_END: Final = b"\n"
_GAP: Final = b" "
# ASCII letters in lower case; anything else in ASCII but digits ends a chunk.
_ASCII_GAPS: Final = bytes(byte for byte in range(128) if byte != _END[0] and not chr(byte).isalnum())
_TO_CHUNKS: Final = bytes(range(256)).lower().translate(bytes.maketrans(_ASCII_GAPS, _GAP * len(_ASCII_GAPS)))
_DELETED: Final = b"'`"  # the apostrophes in ASCII
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


class _Chunks(msgspec.Struct, frozen=True, eq=False):
    """The chunks of some distinct texts of a column: the code of the text, and the number of the chunk."""

    column: Column
    codes: Integers
    numbers: Integers


class TextIndexBuilder:
    """Collects the chunks of the texts of columns, and builds the index."""

    def __init__(self) -> None:
        self._numbers = defaultdict[bytes, int](count().__next__)  # chunk -> its number, in order of appearance
        self._chunks: list[_Chunks] = []

    def add(self, column: Column, texts: StringArray) -> None:
        """Add a text in UTF-8 for each distinct value of a column: all rows with the value have it."""
        for begin in range(0, len(texts), _TEXTS):
            self._chunks.append(_Chunks(column, *self._cut(texts, begin)))

    def build(self, length: int) -> TextIndex:
        """Return the index of a table with this many rows; the builder cannot be used afterwards."""
        split = [_words(chunk) for chunk in self._numbers]
        counts = np.fromiter(map(len, split), np.int64, len(split))
        ranks, distinct = rank(list(_joined(chain.from_iterable(split))))
        pairs = np.concatenate([np.empty(0, np.int64), *self._pairs(ranks.astype(np.int64), counts)])
        pairs.sort()
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        starts = pairs.searchsorted(np.arange(len(distinct) + 1) << _ROW_BITS)
        return TextIndex(distinct, starts, (pairs & _ROW_MASK).astype(np.int32), length)

    def _cut(self, texts: StringArray, begin: int) -> tuple[Integers, Integers]:
        """Return the chunks of some texts: for each the index of its text, and its number."""
        some = list(texts.part(begin, min(begin + _TEXTS, len(texts))))
        data = _END.join([_END, *some])
        if data.count(_END) > len(some) + 1:
            data = _END.join([_END, *(text.replace(_END, _GAP) for text in some)])
        data = data.translate(_TO_CHUNKS, _DELETED)
        chunks = data.split()
        characters = np.frombuffer(data, np.uint8)
        gaps = characters <= _GAP[0]
        starts = (gaps[:-1] > gaps[1:]).nonzero()[0]
        ends = (characters == _END[0]).nonzero()[0]
        codes = ends.searchsorted(starts, "right") + (begin - 2)
        return codes, np.fromiter(map(self._numbers.__getitem__, chunks), np.int64, len(chunks))

    def _pairs(self, ranks: Integers, counts: Integers) -> Iterator[Integers]:
        """Yield the pairs of the rank of a word and a row that has it, as one integer each.

        Chunk number i has `counts[i]` words; `ranks` are those of all chunks.
        """
        starts = counts.cumsum() - counts
        for each in self._chunks:
            order, first = each.column.order, each.column.starts
            lengths = counts[each.numbers]
            codes = np.repeat(each.codes, lengths)
            rows = first[codes + 1] - first[codes]
            high = ranks[_ranges(starts[each.numbers], lengths)] << _ROW_BITS
            yield np.repeat(high, rows) | order[_ranges(first[codes], rows)]
        self._chunks = []


def _words(chunk: bytes) -> Sequence[bytes]:
    """Return the words of a chunk."""
    return (chunk,) if chunk.isascii() else [word.encode() for word in words(chunk.decode())]


def _joined(found: Iterator[bytes]) -> Iterator[bytes]:
    """Yield words in parts, in the format of `join_keys`."""
    while some := list(islice(found, _TEXTS)):
        yield KEY_END.join([*some, b""])


def _ranges(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the integers of ranges, one range after the other."""
    if (lengths == 1).all():
        return starts
    ends = lengths.cumsum(dtype=np.int64)
    integers: Integers = np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)
    return integers

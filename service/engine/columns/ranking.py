"""Rank strings: the order of millions by a few sorts of machine words, without a Python object for each.

They are sorted by their first eight bytes as a number, those that tie by the next eight, and so on.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import (
    KEY_END,
    LIST_SEPARATOR,
    NULL_KEY,
    Rows,
    StringArray,
    expand,
    gather,
    narrow,
    sort_rows,
    union,
)
from service.engine.columns.row_budget import spend
from service.spool import Spool, Spools

_Item = TypeVar("_Item", bound=np.generic)
_Parts = TypeVar("_Parts", bound=msgspec.Struct)
_AT_ONCE: Final = 1 << 14  # strings copied at once


def keep(array: NDArray[_Item], spools: Spools) -> NDArray[_Item]:
    """Return an array as it is if it is small, else a copy in a spool."""
    if array.nbytes <= spools.in_memory:
        return array
    spool = spools.new()
    spool.append(array.data)
    return spooled(spool, array.dtype)


def keep_arrays(parts: _Parts, spools: Spools) -> _Parts:
    """Return a struct of arrays, and of such structs, with its arrays kept."""
    return type(parts)(*(_keep_part(getattr(parts, name), spools) for name in parts.__struct_fields__))


def _keep_part(part: object, spools: Spools) -> object:
    if isinstance(part, np.ndarray):
        return keep(part, spools)
    return keep_arrays(part, spools) if isinstance(part, msgspec.Struct) else part


def spooled(spool: Spool, dtype: "np.dtype[_Item]") -> NDArray[_Item]:
    """Return the items in a spool as an array."""
    return np.frombuffer(spool.view(), dtype)


def keep_strings(
    data: memoryview, starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]], spools: Spools
) -> StringArray:
    """Return strings of a buffer, one after the other, in a spool."""
    kept, offsets = spools.new(), np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    for part in _copied(data, starts, lengths):
        kept.append(part)
    return StringArray(kept.view(), keep(narrow(offsets), spools))


def _copied(
    data: memoryview, starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]
) -> Iterator[bytes | memoryview]:
    """Yield strings of a buffer in parts."""
    for begin in range(0, len(starts), _AT_ONCE):
        first, size = (each[begin : begin + _AT_ONCE].astype(np.int64) for each in (starts, lengths))
        views = map(data.__getitem__, map(slice, first.tolist(), (first + size).tolist()))
        yield gather(data, first, size) or b"".join(views)


Codes: TypeAlias = NDArray[np.int32]
_Integers: TypeAlias = NDArray[np.int64]
_Words: TypeAlias = NDArray[np.uint64]
_Flags: TypeAlias = NDArray[np.bool_]

_WORD: Final = 8  # bytes
_PADDING: Final = 64  # bytes after the last key, so that there is a word at its end, and most can be copied with more
_LAST_BYTE: Final = np.uint64(0xFF)  # of a word; it is 0 at the end of a key
# By how many bytes of a word are in a key.
_MASKS: Final = np.array([2**64 - 2 ** (8 * (_WORD - length)) for length in range(_WORD + 1)], np.uint64)
_SEARCHED: Final = 1 << 20  # bytes in which the ends of keys are searched at once
_RANKED_AT_ONCE: Final = 1 << 16  # keys refined at once: their words fit the processor's cache
# After so many words keys are compared as a whole: two equal ones of a megabyte would take 131,072 sorts.
_MOST_WORDS: Final = 32


def rank(keys: Spool, spools: Spools) -> tuple[Codes, StringArray]:
    """Return the code of each key (the number of distinct keys for no value), and the sorted distinct keys.

    The spool has normalized keys in the format of `join_keys`; nothing can be appended to it afterwards.
    """
    size = len(keys)
    keys.append(bytes(_PADDING))
    texts = _Keys(keys.view(), size)
    codes, distinct = texts.ranked()
    if len(distinct) and texts[int(distinct[-1])] == NULL_KEY:
        distinct = distinct[:-1]
    starts = texts.bounds[distinct]
    lengths = texts.bounds[distinct + 1] - starts - len(KEY_END)
    return keep(codes, spools), keep_strings(texts.data, starts, lengths, spools)


def rank_few(keys: bytes) -> tuple[Codes, bytes]:
    """Return the code of each key, and the sorted distinct keys, both in the format of `join_keys`."""
    texts = _Keys(memoryview(keys + bytes(_PADDING)), len(keys))
    codes, distinct = texts.ranked()
    starts = texts.bounds[distinct]
    return codes, b"".join(_copied(texts.data, starts, texts.bounds[distinct + 1] - starts))


class _Keys:
    """Keys in a buffer: number i is from `bounds[i]` to the byte before `bounds[i + 1]`."""

    def __init__(self, data: memoryview, size: int) -> None:
        """Take the buffer, of which the keys take so many bytes, and padding the rest."""
        self.data = data
        characters = np.frombuffer(self.data[:size], np.uint8)
        parts = [characters[start : start + _SEARCHED] for start in range(0, size, _SEARCHED)]
        ends = [index * _SEARCHED + (part == KEY_END[0]).nonzero()[0] for index, part in enumerate(parts)]
        self.bounds = np.concatenate([np.zeros(1, np.int64), *ends])
        self.bounds[1:] += 1
        self._words = np.ndarray((size + 1,), ">u8", self.data, strides=(1,))
        # A word ends with NULs, and so must no key: those with NULs are compared as a whole.
        self.most_words = 0 if any((part == 0).any() for part in parts) else _MOST_WORDS

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> bytes:
        return bytes(self.data[self.bounds[index] : self.bounds[index + 1] - 1])

    def words(self, indices: _Integers, depth: int) -> _Words:
        """Return a word of each of some keys: 0 after its end; at the greatest depth, the rank of all that is left."""
        starts = self.bounds[indices] + _WORD * depth
        lengths = self.bounds[indices + 1] - len(KEY_END) - starts
        if depth == self.most_words:
            tails = [bytes(self.data[start : start + length]) for start, length in zip(starts, lengths, strict=True)]
            return np.unique(np.array(tails, object), return_inverse=True)[1].astype(np.uint64)
        words: _Words = self._words[starts].astype(np.uint64)
        words &= _MASKS[np.minimum(lengths, _WORD)]
        return words

    def ranked(self) -> tuple[Codes, _Integers]:
        """Return the code of each key, and the number of one with each code."""
        order, is_first = _sort(self)
        codes = np.empty(len(order), np.int32)
        codes[order] = is_first.cumsum(dtype=np.int32) - np.int32(1)
        return codes, order[is_first]


def _sort(keys: _Keys) -> tuple[_Integers, _Flags]:
    """Return keys in their order, and for each position whether its key differs from the one before."""
    count = len(keys)
    words = np.empty(count, np.uint64)
    step = _RANKED_AT_ONCE if keys.most_words else count + 1
    for start in range(0, count, step):
        words[start : start + step] = keys.words(np.arange(start, min(start + step, count)), 0)
    order = words.argsort()
    words = words[order]
    is_first = np.ones(count, np.bool_)
    np.not_equal(words[1:], words[:-1], out=is_first[1:])
    for start, stop in _parts(is_first):
        _refine(keys, order[start:stop], is_first[start:stop], words[start:stop])
    return order, is_first


def _parts(is_first: _Flags) -> Iterator[tuple[int, int]]:
    """Yield parts of positions that do not divide keys that tie."""
    firsts = is_first.nonzero()[0]
    cuts = firsts[firsts.searchsorted(np.arange(0, len(is_first), _RANKED_AT_ONCE), "right") - 1]
    yield from pairwise([*np.unique(cuts).tolist(), len(is_first)])


def _refine(keys: _Keys, order: _Integers, is_first: _Flags, words: _Words) -> None:
    """Sort keys that tie by what follows their first words, in place."""
    positions = np.arange(len(order))
    for depth in range(1, keys.most_words + 1):
        first = is_first[positions]
        tied = ((words & _LAST_BYTE != 0) & ~(first & np.append(first[1:], True))).nonzero()[0]
        if not len(tied):
            return
        positions = positions[tied]
        words = keys.words(order[positions], depth)
        within = _argsort(is_first[positions].cumsum(), words)
        order[positions], words = order[positions[within]], words[within]
        is_first[positions[1:]] |= words[1:] != words[:-1]


def _argsort(groups: _Integers, words: _Words) -> NDArray[np.intp]:
    """Return the order of words within ascending groups: two sorts of integers take half the time of a stable one."""
    order = words.argsort()
    words = words[order]
    ranks = np.zeros(len(order), np.int64)
    ranks[order[1:]] = (words[1:] != words[:-1]).cumsum()
    return (groups << _BITS | ranks).argsort()


_LISTS: Final = 4096  # lists divided at once
_COUNTING: Final = 4  # to count a text of a list takes as long as to look at so many rows
_BITS: Final = 32


class ListTexts(msgspec.Struct, frozen=True, eq=False):
    """The distinct lists of a column, and their distinct texts, both by code.

    keys     the sorted distinct keys of the texts
    offsets  list -> start of its texts in `texts`; the last item is their number
    texts    the texts of each list, ascending
    starts   text -> start of its lists in `lists`; the last item is their number
    lists    the lists that have each text, ascending
    """

    keys: StringArray
    offsets: NDArray[np.int64]
    texts: Rows
    starts: NDArray[np.int64]
    lists: Rows

    def having(self, keys: Iterable[str]) -> Rows:
        """Return the lists that have one of some keys, ascending."""
        codes = {code for code in map(self.keys.find, keys) if code is not None}
        found = [self.lists_of(code) for code in codes]
        spend(sum(map(len, found)))
        return found[0] if len(found) == 1 else union(found)

    @property
    def is_inverse(self) -> bool:
        """Whether the texts have those lists that have them."""
        starts, lists = _invert(self.offsets, self.texts, len(self.keys))
        return np.array_equal(starts, self.starts) and np.array_equal(lists, self.lists)

    def lists_of(self, text: int) -> Rows:
        """Return the lists that have a text, ascending."""
        return self.lists[self.starts[text] : self.starts[text + 1]]

    def count(self, lists: NDArray[np.integer] | None, counts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return how often each text occurs in some lists, or in all, that occur so often."""
        some = slice(None) if lists is None else lists
        lengths = np.diff(self.offsets)[some]
        spend(_COUNTING * int(lengths.sum()) + len(self.keys))
        texts = self.texts if lists is None else self.texts[expand(self.offsets[:-1][lists], lengths)]
        return np.bincount(texts, weights=counts.repeat(lengths), minlength=len(self.keys)).astype(np.int64)


def build_list_texts(distinct: StringArray, spools: Spools) -> ListTexts:
    """Return the texts of the distinct keys of lists, each of them the sorted keys of its texts."""
    joined, counts = spools.new(), list[int]()
    for begin in range(0, len(distinct), _LISTS):
        some = list(distinct.part(begin, min(begin + _LISTS, len(distinct))))
        counts += [each.count(LIST_SEPARATOR) + 1 for each in some]
        joined.append(KEY_END.join([*some, b""]).replace(LIST_SEPARATOR, KEY_END))
    texts, keys = rank(joined, spools)
    offsets = np.array([0, *counts], np.int64).cumsum()
    return keep_arrays(ListTexts(keys, offsets, texts, *_invert(offsets, texts, len(keys))), spools)


def _invert(offsets: NDArray[np.int64], texts: Rows, count: int) -> tuple[NDArray[np.int64], Rows]:
    """Return the starts and lists of a number of texts."""
    _, lists = sort_rows(texts, np.arange(len(offsets) - 1).repeat(np.diff(offsets)))
    return np.append(0, np.bincount(texts, minlength=count).cumsum()), lists

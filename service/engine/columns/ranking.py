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
    merge,
    narrow,
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
    for begin in range(0, len(starts), _AT_ONCE):
        some = starts[begin : begin + _AT_ONCE].astype(np.int64), lengths[begin : begin + _AT_ONCE].astype(np.int64)
        kept.append(gather(data, *some) or _joined(data, *some))
    return StringArray(kept.view(), keep(narrow(offsets), spools))


def _joined(data: memoryview, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> bytes:
    return b"".join(map(data.__getitem__, map(slice, starts.tolist(), (starts + lengths).tolist())))


Codes: TypeAlias = NDArray[np.int32]
_Integers: TypeAlias = NDArray[np.int64]
_Words: TypeAlias = NDArray[np.uint64]
_Flags: TypeAlias = NDArray[np.bool_]

_WORD: Final = 8  # bytes
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
    texts = _Keys(keys)
    order, is_first = _sort(texts)
    codes = np.empty(len(order), np.int32)
    codes[order] = is_first.cumsum(dtype=np.int32) - np.int32(1)
    distinct = order[is_first]
    if len(distinct) and texts[int(distinct[-1])] == NULL_KEY:
        distinct = distinct[:-1]
    starts = texts.bounds[distinct]
    lengths = texts.bounds[distinct + 1] - starts - len(KEY_END)
    return keep(codes, spools), keep_strings(texts.data, starts, lengths, spools)


class _Keys:
    """Keys in a buffer: number i is from `bounds[i]` to the byte before `bounds[i + 1]`."""

    def __init__(self, keys: Spool) -> None:
        size = len(keys)
        keys.append(bytes(_WORD))  # so that there is a word at the end of the last key
        self.data = keys.view()
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
        skipped = _WORD * depth
        starts, stops = self.bounds[indices] + skipped, self.bounds[indices + 1] - len(KEY_END)
        if depth == self.most_words:
            return _rank_tails([bytes(self.data[start:stop]) for start, stop in zip(starts, stops, strict=True)])
        words: _Words = self._words[np.minimum(starts, len(self._words) - 1)].astype(np.uint64)
        words &= _MASKS[np.clip(stops - starts, 0, _WORD)]
        return words

    def are_longer(self, indices: _Integers, depth: int) -> _Flags:
        """Return for each of some keys whether it has bytes from a word on."""
        longer: _Flags = self.bounds[indices + 1] - self.bounds[indices] - len(KEY_END) > _WORD * depth
        return longer


def _rank_tails(tails: list[bytes]) -> _Words:
    ranks = {tail: number for number, tail in enumerate(sorted(set(tails)))}
    return np.array([ranks[tail] for tail in tails], np.uint64)


def _sort(keys: _Keys) -> tuple[_Integers, _Flags]:
    """Return keys in their order, and for each position whether its key differs from the one before."""
    count = len(keys)
    words = np.empty(count, np.uint64)
    step = _RANKED_AT_ONCE if keys.most_words else count + 1
    for start in range(0, count, step):
        stop = min(start + step, count)
        words[start:stop] = keys.words(np.arange(start, stop), 0)
    order = words.argsort()
    words = words[order]
    is_first = np.ones(count, np.bool_)
    np.not_equal(words[1:], words[:-1], out=is_first[1:])
    del words
    for start, stop in _parts(is_first):
        _refine(keys, order[start:stop], is_first[start:stop])
    return order, is_first


def _parts(is_first: _Flags) -> Iterator[tuple[int, int]]:
    """Yield parts of positions that do not divide keys that tie."""
    firsts = is_first.nonzero()[0]
    cuts = firsts[firsts.searchsorted(np.arange(0, len(is_first), _RANKED_AT_ONCE), "right") - 1]
    yield from pairwise([*np.unique(cuts).tolist(), len(is_first)])


def _refine(keys: _Keys, order: _Integers, is_first: _Flags) -> None:
    """Sort keys that tie by what follows the first word, in place."""
    positions = np.arange(len(order))
    for depth in range(1, keys.most_words + 1):
        positions = _tied(keys, order, is_first, positions, depth)
        if not len(positions):
            return
        groups, tied = is_first[positions].cumsum(), order[positions]
        words = keys.words(tied, depth)
        within = np.lexsort((words, groups))
        order[positions], words = tied[within], words[within]
        is_first[positions[1:]] |= words[1:] != words[:-1]


def _tied(keys: _Keys, order: _Integers, is_first: _Flags, positions: _Integers, depth: int) -> _Integers:
    """Return those of some positions whose keys tie, but may differ from a word on."""
    first = is_first[positions]
    positions = positions[~(first & np.append(first[1:], True))]
    groups = is_first[positions].cumsum()
    longer = np.zeros(len(positions) + 1, np.bool_)
    longer[groups[keys.are_longer(order[positions], depth)]] = True
    tied: _Integers = positions[longer[groups]]
    return tied


_LISTS: Final = 4096  # lists divided at once
_COUNTING: Final = 4  # to count a text of a list takes as long as to look at so many rows
_BITS: Final = 32
_MASK: Final = (1 << _BITS) - 1


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
        codes = {code for key in keys if (code := self.keys.find(key.encode("utf-8", "surrogatepass"))) is not None}
        found = [self.lists_of(code) for code in codes]
        spend(sum(map(len, found)))
        if len(found) == 1:
            return found[0]
        lists = merge(found)
        distinct: Rows = lists[np.append(lists[:1] >= 0, lists[1:] != lists[:-1])]  # several times as fast as np.unique
        return distinct

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
    pairs = np.sort(texts.astype(np.int64) << _BITS | np.arange(len(offsets) - 1).repeat(np.diff(offsets)))
    return np.append(0, np.bincount(texts, minlength=count).cumsum()), (pairs & _MASK).astype(np.int32)

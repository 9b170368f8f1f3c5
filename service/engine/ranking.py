"""Rank strings: the order of millions by a few sorts of machine words, without a Python object for each.

They are sorted by their first eight bytes as a number, those that tie by the next eight, and so on.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.engine.column import KEY_END, NULL_KEY
from service.engine.spooled_arrays import keep, keep_strings
from service.engine.string_array import StringArray
from service.files.spool import Spool, Spools

Codes: TypeAlias = NDArray[np.int32]
_Integers: TypeAlias = NDArray[np.int64]
_Words: TypeAlias = NDArray[np.uint64]
_Flags: TypeAlias = NDArray[np.bool_]

_WORD: Final = 8  # bytes
# By how many bytes of a word are in a key.
_MASKS: Final = np.array([2**64 - 2 ** (8 * (_WORD - length)) for length in range(_WORD + 1)], np.uint64)
_SEARCHED: Final = 1 << 20  # bytes in which the ends of keys are searched at once
_AT_ONCE: Final = 1 << 16  # keys refined at once: their words fit the processor's cache
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
    """Return keys in their order, and for each place whether its key differs from the one before."""
    count = len(keys)
    words = np.empty(count, np.uint64)
    step = _AT_ONCE if keys.most_words else count + 1
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
    """Yield parts of places that do not divide keys that tie."""
    firsts = is_first.nonzero()[0]
    cuts = firsts[firsts.searchsorted(np.arange(0, len(is_first), _AT_ONCE), "right") - 1]
    yield from pairwise([*np.unique(cuts).tolist(), len(is_first)])


def _refine(keys: _Keys, order: _Integers, is_first: _Flags) -> None:
    """Sort keys that tie by what follows the first word, in place."""
    places = np.arange(len(order))
    for depth in range(1, keys.most_words + 1):
        places = _tied(keys, order, is_first, places, depth)
        if not len(places):
            return
        groups, tied = is_first[places].cumsum(), order[places]
        words = keys.words(tied, depth)
        within = np.lexsort((words, groups))
        order[places], words = tied[within], words[within]
        is_first[places[1:]] |= words[1:] != words[:-1]


def _tied(keys: _Keys, order: _Integers, is_first: _Flags, places: _Integers, depth: int) -> _Integers:
    """Return those of some places whose keys tie, but may differ from a word on."""
    first = is_first[places]
    places = places[~(first & np.append(first[1:], True))]
    groups = is_first[places].cumsum()
    longer = np.zeros(len(places) + 1, np.bool_)
    longer[groups[keys.are_longer(order[places], depth)]] = True
    tied: _Integers = places[longer[groups]]
    return tied

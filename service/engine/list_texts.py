"""The texts of lists: a column of lists has a code for each distinct list, whose texts are here."""

from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import KEY_END, LIST_SEPARATOR, Rows, merge
from service.engine.gathering import expand
from service.engine.long_work import announce
from service.engine.ranking import rank
from service.engine.spooled_arrays import keep_arrays
from service.engine.string_array import StringArray
from service.files.spool import Spools

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
        announce(sum(map(len, found)))
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
        announce(_COUNTING * int(lengths.sum()) + len(self.keys))
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

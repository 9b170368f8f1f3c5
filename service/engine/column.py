"""A field of a table as a dictionary-encoded, order-preserving column."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.string_array import StringArray

Rows = NDArray[np.int32]
_Strings = NDArray[np.bytes_]

# Bytes that do not occur in UTF-8, so that keys can be concatenated in one buffer. 0xFF sorts after every text.
KEY_END: Final = b"\xfe"
NULL_KEY: Final = b"\xff"
_KEY_END_TEXT, _NULL_KEY_TEXT = (byte.decode("utf-8", "surrogateescape") for byte in (KEY_END, NULL_KEY))
_MAX_KEY: Final = 256  # bytes; in a numpy array every key is padded to the longest
_SAMPLE_SIZE: Final = 10_000  # keys
_MAX_REPETITION: Final = 4  # average occurrences of a key in the sample; above it, a dictionary is faster than sorting
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


class Column(msgspec.Struct, frozen=True, eq=False):
    """One field of every row, by the normalized keys of its values.

    codes   row -> index of its value in the sorted distinct values; `len(starts) - 1` (the null code) for no value
    order   all rows, sorted by value, ties by row, null values last
    starts  code -> start of its rows in `order`; the last item is the start of the rows without a value
    values  the sorted distinct values in UTF-8 (byte order is code-point order); None if the field is not filtered by
    """

    codes: NDArray[np.unsignedinteger]
    order: Rows
    starts: Rows
    values: StringArray | None

    @property
    def non_null_count(self) -> int:
        """The number of rows with a value."""
        return int(self.starts[-1])

    @property
    def null_code(self) -> int:
        """The code of the rows without a value."""
        return len(self.starts) - 1

    def find(self, key: str) -> int | None:
        """Return the code of a normalized key, or None if no row has it."""
        # A lone surrogate, which no value contains, must not raise.
        return None if self.values is None else self.values.find(key.encode("utf-8", "surrogatepass"))

    def count(self, code: int) -> int:
        """Return the number of rows with a value."""
        return int(self.starts[code + 1]) - int(self.starts[code])

    def postings(self, code: int) -> Rows:
        """Return the rows with a value, ascending."""
        return self.order[self.starts[code] : self.starts[code + 1]]


def join_keys(keys: Sequence[str | None]) -> bytes:
    """Return normalized keys concatenated, each followed by `KEY_END`; `NULL_KEY` for None."""
    texts = [_NULL_KEY_TEXT if key is None else key for key in keys]
    return _KEY_END_TEXT.join([*texts, ""]).encode("utf-8", "surrogateescape")


def split_keys(keys: bytes) -> list[bytes]:
    """Return concatenated keys one by one."""
    return keys.split(KEY_END)[:-1]


def rank(parts: Sequence[bytes]) -> tuple[NDArray[np.int32], StringArray]:
    """Return the code of each row (the number of distinct keys for no value), and the sorted distinct keys.

    `parts` are the normalized keys of some rows after the other, each in the format of `join_keys`. There is never a
    Python object for each key of all parts: memory that is new costs more than the work itself.
    """
    arrays = _arrays(parts) if _has_many_distinct(parts) else None
    codes, distinct = _rank_by_dictionary(parts) if arrays is None else _rank_by_sorting(arrays)
    last = len(distinct) - 1
    return codes, distinct.part(0, last) if last >= 0 and distinct[last] == NULL_KEY else distinct


def _has_many_distinct(parts: Sequence[bytes]) -> bool:
    """Return whether many keys are distinct, judged by a sample."""
    some = -(-_SAMPLE_SIZE // max(len(parts), 1))
    sample = list(chain.from_iterable(part.split(KEY_END, some)[:-1] for part in parts))
    return len(set(sample)) * _MAX_REPETITION > len(sample)


def _arrays(parts: Sequence[bytes]) -> list[_Strings] | None:
    """Return the keys of each part as an array, None if a key is long or has a NUL, which ends strings of NumPy."""
    arrays = []
    for part in parts:
        keys = split_keys(part)
        if b"\0" in part or max(map(len, keys), default=0) > _MAX_KEY:
            return None
        arrays.append(np.array(keys, np.bytes_))
    return arrays


def _rank_by_sorting(arrays: Sequence[_Strings]) -> tuple[NDArray[np.int32], StringArray]:
    distinct, codes = np.unique(np.concatenate(arrays), return_inverse=True)
    return codes.astype(np.int32), StringArray.of_array(distinct)


def _rank_by_dictionary(parts: Sequence[bytes]) -> tuple[NDArray[np.int32], StringArray]:
    numbers = defaultdict[bytes, int](count().__next__)  # key -> its number, in order of appearance
    numbered = [np.fromiter(map(numbers.__getitem__, split_keys(part)), np.int32) for part in parts]
    distinct = sorted(numbers)
    codes = np.empty(len(distinct), np.int32)
    codes[[numbers[key] for key in distinct]] = np.arange(len(distinct))
    return codes.take(np.concatenate([*numbered, np.empty(0, np.int32)])), StringArray.of(distinct)


def build_column(codes: NDArray[np.int32], distinct: StringArray, *, filters: bool) -> Column:
    """Return a column of rows with codes; `filters`: whether to store the values for lookups."""
    counts = np.bincount(codes, minlength=len(distinct) + 1)[: len(distinct)]
    narrow = codes.astype(np.min_scalar_type(len(distinct)))
    return Column(
        codes=narrow,
        order=_order(codes),
        starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        values=distinct if filters else None,
    )


def _order(codes: NDArray[np.int32]) -> Rows:
    """Return the rows sorted by code, ties by row; sorting one integer of both is ten times as fast as argsort."""
    rows = np.arange(len(codes), dtype=np.int64)
    return (np.sort(codes.astype(np.int64) << _ROW_BITS | rows) & _ROW_MASK).astype(np.int32)


def merge(parts: Iterable[Rows]) -> Rows:
    """Return the union of sets of rows, ascending; the sets must be ascending and disjoint."""
    sets = list(parts)
    if len(sets) == 1:
        return sets[0]
    return np.sort(np.concatenate([*sets, np.empty(0, np.int32)]))

"""Arrays of strings, and columns: the fields of a table, dictionary-encoded in the order of their values."""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

# The most that is copied for each byte of the result: one long string among short ones would multiply the work.
_MAX_COPIED: Final = 8


def gather(data: memoryview, starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> memoryview | None:
    """Return strings of a buffer, concatenated in a new one; None if their lengths do not suit.

    Each is copied with what follows it, as wide as the longest, and the next one is then written over the surplus:
    NumPy assigns items in the order of their indices.
    """
    width, stops = int(np.maximum.reduce(lengths)), lengths.cumsum()
    total, last = int(stops[-1]), len(data) - width
    if not 0 < width * len(starts) <= _MAX_COPIED * total:
        return None
    firsts = np.minimum(starts, last)
    # Reading one byte of each first lets the processor wait for all of them at once.
    np.frombuffer(data, np.uint8).take(firsts)
    item, joined = np.dtype(f"V{width}"), np.empty(total + width, np.uint8)
    source = np.ndarray((last + 1,), item, data, strides=(1,))
    target = np.ndarray((total + 1,), item, joined.data, strides=(1,))
    target[stops - lengths] = source[firsts]
    for late in (starts > last).nonzero()[0].tolist():  # what follows these in the buffer is shorter
        start, length, stop = int(starts[late]), int(lengths[late]), int(stops[late])
        joined.data[stop - length : stop] = data[start : start + length]
    return joined.data[:total]


def expand(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the integers of ranges, one range after the other."""
    if np.logical_and.reduce(lengths == 1):
        return starts
    ends = lengths.cumsum(dtype=np.int64)
    integers: NDArray[np.int64] = np.arange(ends[-1]) + (starts - ends + lengths).repeat(lengths)
    return integers


_LINE_END: Final = 10
_MOST_NARROW: Final = 2**32 - 1
_AFTER_TEXT: Final = b"\xff"  # sorts after every text in UTF-8
# A view of each of fewer strings costs less than to copy them all with NumPy.
_MANY: Final = 100

_Index = TypeVar("_Index", bound=np.integer[Any])


def narrow(offsets: NDArray[np.int64]) -> NDArray[np.integer]:
    """Return ascending offsets in 32 bits if they fit, else as they are."""
    return offsets.astype(np.uint32) if int(offsets[-1]) <= _MOST_NARROW else offsets


class SortedStrings:
    """Strings that are sorted and distinct, wherever they are.

    samples  the most that the sparse index has; to search these Python objects is several times faster than the rest
    """

    samples: ClassVar[int] = 2048

    @abstractmethod
    def __len__(self) -> int:
        """Return their number."""

    @abstractmethod
    def __getitem__(self, index: int) -> bytes:
        """Return a string."""

    def beginning(self, text: str) -> range:
        """Return the indices of the strings that begin with a text."""
        string = text.encode()
        return range(self.bisect(string), self.bisect(string + _AFTER_TEXT))

    def bisect(self, string: bytes, start: int = 0) -> int:
        """Return the insertion index of a string, as `bisect_left`; it is at least `start`, and soon found if near."""
        step, sample = self.sparse_index
        position, width = bisect_left(sample, string), 1
        stop = position * step if position < len(sample) else len(self)
        first = max((position - 1) * step + 1, 0)  # the sample has the string before
        if first < start:
            first = start
            while first + width < stop and self[first + width - 1] < string:
                first, width = first + width, 2 * width
            stop = min(first + width, stop)
        return self._insertion_index(string, first, stop)

    def _insertion_index(self, string: bytes, first: int, stop: int) -> int:
        return bisect_left(self, string, first, stop)

    @cached_property
    def sparse_index(self) -> tuple[int, list[bytes]]:
        """A step, and every `step`-th string."""
        step = max(-(-len(self) // self.samples), 1)
        return step, list(map(self.__getitem__, range(0, len(self), step)))


class StringArray(SortedStrings):
    """Concatenated byte strings: string i is `data[offsets[i]:offsets[i + 1]]`; see `narrow` for their type.

    They are searched only if they are sorted and distinct.
    """

    # Beside the dictionary of a `cached_property`, attributes in slots are read several times as fast as in it.
    __slots__ = ("_offsets", "_starts", "_stops", "data", "offsets")

    def __init__(self, data: memoryview, offsets: NDArray[np.integer]) -> None:
        self.data = data
        self.offsets = offsets
        self._offsets = offsets.data  # reading one number is several times faster than from an array
        self._starts, self._stops = offsets[:-1], offsets[1:]

    @classmethod
    def of(cls, strings: Sequence[bytes]) -> "StringArray":
        """Concatenate strings."""
        offsets = np.zeros(len(strings) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
        return cls(memoryview(b"".join(strings)), narrow(offsets))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def find(self, text: str) -> int | None:
        """Return the index of a text, or None; no string has a lone surrogate."""
        string, (step, sample) = text.encode("utf-8", "surrogatepass"), self.sparse_index
        after, data, offsets = bisect_left(sample, string), self.data, self._offsets
        if after < len(sample) and sample[after] == string:
            return after * step
        first, stop = max((after - 1) * step + 1, 0), min(after * step, len(offsets) - 1)
        while first < stop:
            middle = (first + stop) >> 1
            found = bytes(data[offsets[middle] : offsets[middle + 1]])
            if found == string:
                return middle
            first, stop = (middle + 1, stop) if found < string else (first, middle)
        return None

    def _insertion_index(self, string: bytes, first: int, stop: int) -> int:
        """As that of the base class, without a call for each string."""
        data, offsets = self.data, self._offsets
        while first < stop:
            middle = (first + stop) >> 1
            if bytes(data[offsets[middle] : offsets[middle + 1]]) < string:
                first = middle + 1
            else:
                stop = middle
        return first

    def __getitem__(self, index: int) -> bytes:
        return bytes(self.data[self._offsets[index] : self._offsets[index + 1]])

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = bytes(self.data), self.offsets.tolist()
        return map(data.__getitem__, map(slice, offsets, offsets[1:]))

    def ended(self, end: bytes) -> bytes:
        """Return the strings, each with a byte at its end."""
        return np.insert(np.frombuffer(self.data, np.uint8), self.offsets[1:].astype(np.intp), end[0]).tobytes()

    def part(self, start: int, stop: int) -> "StringArray":
        """Return the strings from one index to another, as an array on the same buffer."""
        offsets = self.offsets[start : stop + 1]
        return StringArray(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])

    def view(self, index: int, *, without: int = 0) -> memoryview:
        """Return a string as a view of the buffer, without its last bytes."""
        return self.data[self._offsets[index] : self._offsets[index + 1] - without]

    def chunks(self, indices: NDArray[np.integer], *, without: int = 0) -> list[memoryview]:
        """Return the strings at some indices, in that order, as chunks that concatenate to the same bytes.

        Consecutive strings are one view of the buffer, many others one writable copy, the rest a view each. The last is
        `without` its last bytes.
        """
        if len(indices) == 0:
            return []
        first, last = indices.item(0), indices.item(-1)
        if last - first + 1 == len(indices) and np.logical_and.reduce(indices[1:] - indices[:-1] == 1):
            return [self.data[self._offsets[first] : self._offsets[last + 1] - without]]
        data, wide = self.data, indices.astype(np.intp)
        starts, stops = self._starts.take(wide), self._stops.take(wide)
        if len(wide) >= _MANY and (joined := gather(data, starts, stops - starts)) is not None:
            return [joined[: len(joined) - without]]
        ends = stops.tolist()
        ends[-1] -= without
        return [data[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]

    def joined(self, indices: NDArray[np.integer]) -> tuple[bytearray, NDArray[np.int64]]:
        """Return the strings at some indices, in that order, in a new buffer, and where each ends in it."""
        wide = indices.astype(np.intp)
        ends = (self._stops.take(wide) - self._starts.take(wide)).cumsum(dtype=np.int64)
        return bytearray().join(self.chunks(indices)), ends

    def lines(self, indices: NDArray[np.integer]) -> memoryview:
        """Return the strings at some indices, in that order, in a new buffer, with LF in place of their last bytes."""
        joined, ends = self.joined(indices)
        lines = np.frombuffer(joined, np.uint8)
        lines[ends - 1] = _LINE_END
        return lines.data

    def parts(self, indices: NDArray[_Index], size: int) -> list[NDArray[_Index]]:
        """Return the indices in parts, each as long as its strings have at most `size` bytes, but at least one."""
        wide = indices.astype(np.intp)
        ends = (self._stops.take(wide) - self._starts.take(wide)).cumsum()
        bounds, before = [0], 0
        while bounds[-1] < len(indices):
            bounds.append(max(int(ends.searchsorted(before + size, "right")), bounds[-1] + 1))
            before = int(ends[bounds[-1] - 1])
        return list(map(indices.__getitem__, map(slice, bounds, bounds[1:])))

    def views(self, indices: NDArray[np.integer], *, without: int) -> list[memoryview]:
        """Return the strings at some indices, in that order, each as a view without its last bytes."""
        data, wide = self.data, indices.astype(np.intp)
        starts, stops = self._starts.take(wide).tolist(), (self._stops.take(wide) - without).tolist()
        return [data[start:stop] for start, stop in zip(starts, stops, strict=True)]


Rows = NDArray[np.int32]

# Bytes that do not occur in UTF-8, so that keys can be concatenated in one buffer. 0xFF sorts after every text.
# Between the keys of the texts of a list.
LIST_SEPARATOR: Final = b"\xfd"
KEY_END: Final = b"\xfe"
NULL_KEY: Final = b"\xff"
_KEY_END_TEXT, _NULL_KEY_TEXT, _SEPARATOR_TEXT = (
    byte.decode("utf-8", "surrogateescape") for byte in (KEY_END, NULL_KEY, LIST_SEPARATOR)
)


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
        return None if self.values is None else self.values.find(key)

    def having(self, key: str) -> Rows:
        """Return the rows whose value has a normalized key, ascending."""
        code = None if self.values is None else self.values.find(key)
        return self.order[:0] if code is None else self.order[self.starts[code] : self.starts[code + 1]]

    def count(self, code: int) -> int:
        """Return the number of rows with a value."""
        return int(self.starts[code + 1]) - int(self.starts[code])

    def postings(self, code: int) -> Rows:
        """Return the rows with a value, ascending."""
        return self.order[self.starts[code] : self.starts[code + 1]]

    def slice(self, codes: range) -> Rows:
        """Return the rows with some values, by value, ties ascending."""
        return self.order[self.starts[codes.start] : self.starts[codes.stop]]


def join_keys(keys: Sequence[str | None]) -> bytes:
    """Return normalized keys concatenated, each followed by `KEY_END`; `NULL_KEY` for None."""
    texts = [_NULL_KEY_TEXT if key is None else key for key in keys]
    return _KEY_END_TEXT.join([*texts, ""]).encode("utf-8", "surrogateescape")


def list_key(keys: Iterable[str]) -> str:
    """Return the key of a list, for `join_keys`: equal for lists of the same texts."""
    return _SEPARATOR_TEXT.join(sorted(set(keys)))


def build_column(codes: NDArray[np.int32], distinct: StringArray, *, filters: bool) -> Column:
    """Return a column of rows with codes; `filters`: whether to store the values for lookups."""
    counts = np.bincount(codes, minlength=len(distinct) + 1)[: len(distinct)]
    narrow = codes.astype(np.min_scalar_type(len(distinct)))
    return Column(
        codes=narrow,
        order=sort_rows(codes, np.arange(len(codes)))[1],
        starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        values=distinct if filters else None,
    )


_ROW_BITS: Final = np.uint64(32)
_ROW_MASK: Final = np.uint64((1 << 32) - 1)


def sort_rows(keys: NDArray[np.integer], rows: NDArray[np.integer]) -> tuple[NDArray[np.uint64], Rows]:
    """Return keys of 32 bits ascending, ties by row, and the rows; one integer of both sorts faster than by argsort."""
    both = keys.astype(np.uint64) << _ROW_BITS | rows.astype(np.uint64)
    both.sort()
    return both >> _ROW_BITS, (both & _ROW_MASK).astype(np.int32)


def union(parts: Iterable[Rows]) -> Rows:
    """Return the rows of some sets, ascending, each once; several times as fast as `np.unique`."""
    rows = np.concatenate([*parts, np.empty(0, np.int32)])
    rows.sort()
    distinct: Rows = rows[np.append(rows[:1] >= 0, rows[1:] != rows[:-1])]
    return distinct

"""A field of a table as a dictionary-encoded, order-preserving column."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.texts import Texts

Rows = NDArray[np.int32]

# Bytes that no UTF-8 has, so that keys lie end to end in one buffer and not as objects. 0xFF sorts behind every text.
KEY_END: Final = b"\xfe"
ABSENT: Final = b"\xff"
_KEY_END_TEXT, _ABSENT_TEXT = (byte.decode("utf-8", "surrogateescape") for byte in (KEY_END, ABSENT))
_WIDEST: Final = 256  # bytes; in an array of texts every one takes as much room as the longest
_SAMPLE: Final = 10_000  # keys
_REPEATED: Final = 4  # times that a key occurs in a sample; from here on a dictionary ranks faster than sorting
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


class Column(msgspec.Struct, frozen=True, eq=False):
    """One field of every row, by the matched forms of its values.

    codes   row -> place of its value among the distinct values, sorted; `len(starts) - 1` where it has none
    order   all rows, sorted by value, ties by row; those without a value last
    starts  value -> where its rows begin in `order`; one more for where the rows without a value begin
    values  the distinct values, sorted, as UTF-8 (byte order is code-point order); None where nothing filters by them
    """

    codes: NDArray[np.unsignedinteger]
    order: Rows
    starts: Rows
    values: Texts | None

    @property
    def valued(self) -> int:
        """The number of rows that have a value."""
        return int(self.starts[-1])

    @property
    def absent(self) -> int:
        """The code of the rows that have no value."""
        return len(self.starts) - 1

    def find(self, key: str) -> int | None:
        """Return the code of a matched form, or None where no row has it."""
        # A lone surrogate, which no value has, is looked for like any other text and not found.
        return None if self.values is None else self.values.find(key.encode("utf-8", "surrogatepass"))

    def count(self, code: int) -> int:
        """Return how many rows hold a value."""
        return int(self.starts[code + 1]) - int(self.starts[code])

    def rows(self, code: int) -> Rows:
        """Return the rows that hold a value, ascending."""
        return self.order[self.starts[code] : self.starts[code + 1]]


def join_keys(keys: Sequence[str | None]) -> bytes:
    """Return matched forms, None where a row has no value, end to end: `KEY_END` behind each, `ABSENT` for none."""
    texts = [_ABSENT_TEXT if key is None else key for key in keys]
    return _KEY_END_TEXT.join([*texts, ""]).encode("utf-8", "surrogateescape")


def split_keys(keys: bytes) -> list[bytes]:
    """Return keys that lie end to end one by one."""
    return keys.split(KEY_END)[:-1]


class ColumnBuilder:
    """Gathers the matched forms of one field, row after row, and ranks them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, keys: bytes) -> None:
        """Append the matched forms of the next rows, as `join_keys` has them."""
        self._parts.append(keys)

    def rank(self) -> tuple[NDArray[np.int32], list[bytes]]:
        """Return each row's place among the sorted distinct forms (their number where it has none), and the forms."""
        joined = b"".join(self._parts)
        keys = split_keys(joined)
        # An array of texts does not tell those that end in NUL from those that do not.
        sortable = b"\0" not in joined and max(map(len, keys), default=0) <= _WIDEST and _are_various(keys)
        codes, distinct = _rank_sorted(keys) if sortable else _rank_distinct(keys)
        return codes, distinct[:-1] if distinct[-1:] == [ABSENT] else distinct


def _are_various(keys: list[bytes]) -> bool:
    """Return whether more than a few keys are distinct, by a sample of them."""
    sample = keys[:: len(keys) // _SAMPLE + 1]
    return len(set(sample)) * _REPEATED > len(sample)


def _rank_sorted(keys: list[bytes]) -> tuple[NDArray[np.int32], list[bytes]]:
    distinct, codes = np.unique(np.array(keys, np.bytes_), return_inverse=True)
    return codes.astype(np.int32), distinct.tolist()


def _rank_distinct(keys: list[bytes]) -> tuple[NDArray[np.int32], list[bytes]]:
    distinct = sorted(set(keys))
    places = {key: place for place, key in enumerate(distinct)}
    return np.fromiter(map(places.__getitem__, keys), np.int32, len(keys)), distinct


def build_column(codes: NDArray[np.int32], distinct: Sequence[bytes], *, filters: bool) -> Column:
    """Return the column of ranked rows; `filters` keeps the values, to look them up."""
    counts = np.bincount(codes, minlength=len(distinct) + 1)[: len(distinct)]
    narrow = codes.astype(np.min_scalar_type(len(distinct)))
    return Column(
        codes=narrow,
        order=_order(codes),
        starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        values=Texts.of(distinct) if filters else None,
    )


def _order(codes: NDArray[np.int32]) -> Rows:
    """Return the rows by code, ties by row: sorted as one number of both, ten times as fast as by reference."""
    rows = np.arange(len(codes), dtype=np.int64)
    return (np.sort(codes.astype(np.int64) << _ROW_BITS | rows) & _ROW_MASK).astype(np.int32)


def merge(parts: Iterable[Rows]) -> Rows:
    """Return several sets of rows as one, ascending; the sets are ascending and share no row."""
    gathered = list(parts)
    if len(gathered) == 1:
        return gathered[0]
    return np.sort(np.concatenate([*gathered, np.empty(0, np.int32)]))

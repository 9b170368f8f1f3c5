"""A field of a table as a dictionary-encoded, order-preserving column."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.texts import Texts

Rows = NDArray[np.int32]


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

    def rows(self, code: int) -> Rows:
        """Return the rows that hold a value, ascending."""
        return self.order[self.starts[code] : self.starts[code + 1]]


class ColumnBuilder:
    """Gathers the matched forms of one field, row after row, and ranks them."""

    def __init__(self) -> None:
        self._codes: defaultdict[str | None, int] = defaultdict()
        self._codes.default_factory = self._codes.__len__
        self._parts: list[NDArray[np.int32]] = []

    def add(self, keys: Sequence[str | None]) -> None:
        """Append the matched forms of the next rows, None where a row has no value."""
        self._parts.append(np.fromiter(map(self._codes.__getitem__, keys), np.int32, len(keys)))

    def rank(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return each row's place among the sorted distinct forms (their number where it has none), and the forms."""
        distinct = sorted(key for key in self._codes if key is not None)
        ranks = np.empty(len(self._codes), np.int32)
        seen = np.fromiter(map(self._codes.__getitem__, distinct), np.int32, len(distinct))
        ranks[seen] = np.arange(len(distinct), dtype=np.int32)
        if None in self._codes:
            ranks[self._codes[None]] = len(distinct)
        codes = np.concatenate([*self._parts, np.empty(0, np.int32)])
        return ranks[codes], distinct


def build_column(codes: NDArray[np.int32], distinct: Sequence[str], *, filters: bool) -> Column:
    """Return the column of ranked rows; `filters` keeps the values, to look them up."""
    counts = np.bincount(codes, minlength=len(distinct) + 1)[: len(distinct)]
    narrow = codes.astype(np.min_scalar_type(len(distinct)))
    return Column(
        codes=narrow,
        order=np.argsort(narrow, kind="stable").astype(np.int32),
        starts=np.fromiter(chain([0], np.cumsum(counts)), np.int32, len(distinct) + 1),
        values=Texts.of([key.encode() for key in distinct]) if filters else None,
    )


def merge(parts: Iterable[Rows]) -> Rows:
    """Return several sets of rows as one, ascending; the sets are ascending and share no row."""
    gathered = list(parts)
    if len(gathered) == 1:
        return gathered[0]
    return np.sort(np.concatenate([*gathered, np.empty(0, np.int32)]))

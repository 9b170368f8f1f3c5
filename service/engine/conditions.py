"""The conditions of a query on the rows of a table: filters, words and areas, all with the same methods."""

from functools import reduce
from operator import attrgetter
from typing import Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, expand
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import Bitmap, is_dense, pack
from service.engine.geography.areas import box_area, circle_area
from service.engine.table import Table
from service.model.query import Criteria, Filter

# Comparing with at most this many codes takes less time than looking them up.
_FEW: Final = 8
# To find a value takes as long as to look at so many rows.
_FINDING: Final = 1000


class Condition(Protocol):
    """A condition on rows."""

    @property
    def count(self) -> int:
        """The number of matching rows, or somewhat more."""

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows."""


class Predicate(msgspec.Struct, frozen=True, eq=False):
    """A filter on a column: the codes of the accepted values, ascending, and the number of rows that match.

    In a column of lists, these are the codes of the lists that have an accepted text.
    """

    table: Table
    field: str
    column: Column
    codes: NDArray[np.integer]
    count: int

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        starts, codes = self.column.starts, self.codes
        if len(codes) == 1:
            return self.column.postings(int(codes[0]))
        first = starts.take(codes)
        rows: Rows = np.sort(self.column.order.take(expand(first, starts.take(codes + 1) - first)))
        return rows

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        return self._accepts(self.column.codes.take(rows))

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows. Those of few common values are cached."""
        codes, count = self.codes.tolist(), self.column.count
        if len(codes) <= _FEW and all(is_dense(count(code), len(self.table)) for code in codes):
            return reduce(np.bitwise_or, [self.table.bitmap(self.field, code) for code in codes])
        spend(len(self.table))
        return pack(self._accepts(self.column.codes))

    def _accepts(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        if len(self.codes) <= _FEW:
            return reduce(np.logical_or, [codes == code for code in self.codes], np.zeros(len(codes), np.bool_))
        accepted = np.zeros(self.column.null_code + 1, np.bool_)
        accepted[self.codes] = True
        return accepted.take(codes)


def conditions(table: Table, criteria: Criteria) -> list[Condition]:
    """Return the conditions of criteria, those that fewer rows match first; at least one."""
    spend(_FINDING * len(criteria.terms))
    parts: list[Condition] = [_predicate(table, each) for each in criteria.filters]
    parts += map(table.text.match, criteria.terms)
    if table.locations is not None and criteria.circle is not None:
        parts.append(circle_area(table.locations, criteria.circle))
    if table.locations is not None and criteria.box is not None:
        parts.append(box_area(table.locations, criteria.box))
    return parts if len(parts) == 1 else sorted(parts, key=attrgetter("count"))


def _predicate(table: Table, query_filter: Filter) -> Predicate:
    name, keys = query_filter.field, query_filter.keys
    spend(_FINDING * len(keys))
    column, lists = table.columns[name], table.lists.get(name)
    if lists is None:
        found = {code for key in keys if (code := column.find(key)) is not None}
        codes: NDArray[np.integer] = np.array(sorted(found), np.int64)
    else:
        codes = lists.having(keys)
    counts = column.starts.take(codes + 1) - column.starts.take(codes)
    return Predicate(table, name, column, codes, int(counts.sum()))

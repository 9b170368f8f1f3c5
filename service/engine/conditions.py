"""The conditions of a query on the rows of a table: filters, words and areas, all with the same methods."""

from collections.abc import Sequence
from functools import reduce
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, SortedStrings, expand
from service.engine.columns.row_budget import LOOKED_UP, spend
from service.engine.columns.selection import Bitmap, pack
from service.engine.geography.areas import Area, box_area, circle_area
from service.engine.table import Table
from service.engine.text_index import TermMatch
from service.model.intervals import FIRST_KEY, LAST_KEY, Interval
from service.model.kinds import FLAG
from service.model.query import Criteria

# Comparing with at most this many codes takes less time than looking them up.
_FEW: Final = 8
# To find a value takes as long as to look at so many rows.
_FINDING: Final = 1000
_AT_ONCE: Final = 1 << 16  # codes looked up: NumPy copies them to wider ones
_IS_OPEN, _TRUE = "is_open", FLAG.normalize("true")


class Predicate(msgspec.Struct, frozen=True, eq=False):
    """A filter on a column: the codes of the accepted values, ascending, and the number of rows that match.

    In a column of lists, these are the codes of the lists that have an accepted text.
    """

    table: Table
    field: str
    column: Column
    codes: range | Sequence[int] | NDArray[np.integer]
    count: int

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        if isinstance(self.codes, range):
            rows = self.column.slice(self.codes)
            return rows if self.field == self.table.order_by else np.sort(rows)
        starts, stops = self.column.starts.take(self.codes), self.column.starts[1:].take(self.codes)
        if len(starts) == 1:
            return self.column.order[starts[0] : stops[0]]
        rows = self.column.order.take(expand(starts, stops - starts))
        rows.sort()
        return rows

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        return self._accepts(self.column.codes.take(rows))

    def bitmap(self) -> Bitmap:
        """Return the bitmap of the matching rows."""
        if self.is_common:
            return self.common(self.table.order_by)
        spend(len(self.table) // LOOKED_UP)
        return pack(self._accepts(self.column.codes))

    @property
    def is_common(self) -> bool:
        """Whether the values are few and common."""
        count, least = self.column.count, self.table.least_many
        return 0 < len(self.codes) <= _FEW and all(count(int(code)) >= least for code in self.codes)

    def common(self, order: str) -> Bitmap:
        """Return the bitmap of the rows with common values, by position in an order: those of each are cached."""
        return reduce(np.bitwise_or, [self.table.bitmap(self.field, int(code), order) for code in self.codes])

    def _accepts(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        if len(self.codes) <= _FEW:
            return reduce(np.logical_or, [codes == int(code) for code in self.codes], np.zeros(len(codes), np.bool_))
        if isinstance(self.codes, range):
            return (codes >= self.codes.start) & (codes < self.codes.stop)
        accepted = np.zeros(self.column.null_code + 1, np.bool_)
        accepted[self.codes] = True
        parts = [accepted.take(codes[begin : begin + _AT_ONCE]) for begin in range(0, len(codes) or 1, _AT_ONCE)]
        return np.concatenate(parts)


# All have a `count`, that of the matching rows or somewhat more, and the same methods.
Condition: TypeAlias = Predicate | TermMatch | Area


def common_rows(table: Table, criteria: Criteria, order: str) -> Bitmap | None:
    """Return the bitmap of the rows by position in an order if all criteria are common values, else None."""
    if criteria != Criteria(criteria.filters):
        return None
    parts = conditions(table, criteria)
    common = [each for each in parts if isinstance(each, Predicate) and each.is_common]
    return reduce(np.bitwise_and, [each.common(order) for each in common]) if common == parts else None


def conditions(table: Table, criteria: Criteria) -> list[Condition]:
    """Return the conditions of criteria, those that fewer rows match first; at least one."""
    parts: list[Condition] = []
    for query_filter in criteria.filters:
        parts.append(_predicate(table, query_filter.field, query_filter.keys))  # noqa: PERF401 - plus a call
    if table.hours is not None and criteria.open_at is not None:
        codes = table.hours.open_at(criteria.open_at)
        parts += (_predicate(table, _IS_OPEN, (_TRUE,)), _having(table, table.hours.field, codes))
    if criteria.terms:
        spend(_FINDING * len(criteria.terms))
        parts += map(table.text.match, criteria.terms)
    if table.locations is not None and criteria.circle is not None:
        parts.append(circle_area(table.locations, criteria.circle))
    if table.locations is not None and criteria.box is not None:
        parts.append(box_area(table.locations, criteria.box))
    return parts if len(parts) == 1 else sorted(parts, key=attrgetter("count"))


def _predicate(table: Table, name: str, keys: Sequence[Any]) -> Predicate:
    spend(_FINDING * len(keys))
    column, lists = table.columns[name], table.lists.get(name)
    if lists is not None:
        return _having(table, name, lists.having(keys))
    if Interval not in map(type, keys):
        codes = sorted({code for code in map(column.find, keys) if code is not None})
        return Predicate(table, name, column, codes, sum(map(column.count, codes)))
    ranges = [codes_in(table, name, Interval(key, key) if isinstance(key, str) else key) for key in keys]
    if len(ranges) == 1:
        return Predicate(table, name, column, ranges[0], len(column.slice(ranges[0])))
    spend(len(column.starts))
    edges = np.zeros(len(column.starts), np.int32)
    np.add.at(edges, [each.start for each in ranges], 1)
    np.subtract.at(edges, [each.stop for each in ranges], 1)
    return _having(table, name, edges.cumsum().nonzero()[0].astype(np.int32))


def _having(table: Table, name: str, codes: NDArray[np.integer]) -> Predicate:
    """Return the filter on a field by the codes of its values."""
    column = table.columns[name]
    counts = column.starts[1:].take(codes) - column.starts.take(codes)
    return Predicate(table, name, column, codes, int(counts.sum()))


def codes_in(table: Table, name: str, interval: Interval) -> range:
    """Return the codes of the values of a field in an interval."""
    values = table.columns[name].values
    keys: SortedStrings = table.times if values is None else values
    start = 0 if interval.low == FIRST_KEY else keys.bisect(interval.low.encode())
    # No key has a NUL: this is the first text after the last one.
    stop = len(keys) if interval.high == LAST_KEY else keys.bisect(f"{interval.high}\0".encode(), start)
    return range(start, stop)

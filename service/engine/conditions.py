"""The conditions of a query on the rows of a table: filters, words and areas, all with the same methods."""

from collections.abc import Iterable
from functools import reduce
from operator import attrgetter
from typing import Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, expand, merge
from service.engine.columns.row_budget import spend
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

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""


class Predicate(msgspec.Struct, frozen=True, eq=False):
    """A filter on a column: the codes of the accepted values, and the number of rows that match."""

    field: str
    column: Column
    codes: tuple[int, ...]
    count: int

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        parts = [self.column.postings(code) for code in self.codes]
        return parts[0] if len(parts) == 1 else merge(parts)

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        return self._accepts(self.column.codes.take(rows))

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""
        return self._accepts(self.column.codes)

    def _accepts(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        matches: NDArray[np.bool_]
        if len(self.codes) <= _FEW:
            matches = reduce(np.logical_or, (codes == code for code in self.codes), np.zeros(len(codes), np.bool_))
        else:
            accepted = np.zeros(self.column.null_code + 1, np.bool_)
            accepted[list(self.codes)] = True
            matches = accepted[codes]
        return matches


class ListPredicate(msgspec.Struct, frozen=True, eq=False):
    """A filter on a column of lists: the codes of those that have an accepted text, ascending."""

    column: Column
    codes: Rows

    @property
    def count(self) -> int:
        """The number of matching rows."""
        return int(self._lengths.sum())

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        rows: Rows = np.sort(self.column.order[expand(self.column.starts[self.codes], self._lengths)])
        return rows

    def matches(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of some rows whether it matches."""
        return self._accepted.take(self.column.codes.take(rows))

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""
        mask: NDArray[np.bool_] = self._accepted[self.column.codes]
        return mask

    @property
    def _lengths(self) -> Rows:
        return self.column.starts[self.codes + 1] - self.column.starts[self.codes]

    @property
    def _accepted(self) -> NDArray[np.bool_]:
        accepted = np.zeros(self.column.null_code + 1, np.bool_)
        accepted[self.codes] = True
        return accepted


def conditions(table: Table, criteria: Criteria) -> list[Condition]:
    """Return the conditions of criteria, those that fewer rows match first; at least one."""
    spend(_FINDING * len(criteria.terms))
    parts: list[Condition] = [*predicates(table, criteria.filters), *map(table.text.match, criteria.terms)]
    if table.locations is not None and criteria.circle is not None:
        parts.append(circle_area(table.locations, criteria.circle))
    if table.locations is not None and criteria.box is not None:
        parts.append(box_area(table.locations, criteria.box))
    return parts if len(parts) == 1 else sorted(parts, key=attrgetter("count"))


def predicates(table: Table, filters: Iterable[Filter]) -> list[Predicate | ListPredicate]:
    """Return the predicates of filters."""
    return [_predicate(table, query_filter) for query_filter in filters]


def _predicate(table: Table, query_filter: Filter) -> Predicate | ListPredicate:
    spend(_FINDING * len(query_filter.keys))
    column, lists = table.columns[query_filter.field], table.lists.get(query_filter.field)
    if lists is not None:
        return ListPredicate(column, lists.having(query_filter.keys))
    codes = tuple(sorted({code for key in query_filter.keys if (code := column.find(key)) is not None}))
    return Predicate(query_filter.field, column, codes, sum(map(column.count, codes)))

"""Select the rows that match the filters of a query, by posting lists or bitmaps, whichever is cheaper."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, pack, positions
from service.engine.column import Column, Rows, merge
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.query import Filter, nbytes

# If the most selective filter matches less than 1 / 64 of the rows, intersecting posting lists and sorting is cheaper.
_BITMAP_FRACTION: Final = 64


class Predicate(msgspec.Struct, frozen=True, eq=False):
    """A filter on a column: the codes of the accepted values, and the number of rows that match."""

    field: str
    column: Column
    codes: tuple[int, ...]
    count: int

    def rows(self) -> Rows:
        """Return the matching rows, ascending."""
        return merge(map(self.column.postings, self.codes))

    def filter(self, rows: Rows) -> Rows:
        """Return the given rows that match."""
        return rows[self._matches(self.column.codes[rows])]

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it matches."""
        return self._matches(self.column.codes)

    def _matches(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        matches: NDArray[np.bool_]
        if len(self.codes) == 1:
            matches = codes == self.codes[0]
        else:
            accepted = np.zeros(self.column.null_code + 1, np.bool_)
            accepted[list(self.codes)] = True
            matches = accepted[codes]
        return matches


def select(table: Table, filters: tuple[Filter, ...], sort_by: str) -> Selection:
    """Return the rows that match every filter, in ascending order of a field. Recent selections are cached."""
    if not filters:
        column = table.columns[sort_by]
        return Selection(column.order, column.non_null_count)
    selection = table.selections.get((filters, sort_by))
    if selection is None:
        selection = _compute(table, filters, sort_by)
        # The filter values may be larger than the rows that they select.
        table.selections.put((filters, sort_by), selection, selection.nbytes + nbytes(filters))
    return selection


def are_many(count: int, table: Table) -> bool:
    """Return whether a number of rows is so large a part of a table that bitmaps are cheaper than lists of rows."""
    return count * _BITMAP_FRACTION >= len(table) > _BITMAP_FRACTION


def predicates(table: Table, filters: Iterable[Filter]) -> list[Predicate]:
    """Return the predicates of filters."""
    return [_predicate(table, each) for each in filters]


def _compute(table: Table, filters: Sequence[Filter], sort_by: str) -> Selection:
    """Intersect posting lists if one filter matches few rows, else bitmaps."""
    column = table.columns[sort_by]
    shortest, *others = sorted(predicates(table, filters), key=lambda predicate: predicate.count)
    if are_many(shortest.count, table):
        matches = positions(reduce(np.bitwise_and, _bitmaps(table, (shortest, *others), sort_by)))
        return Selection(column.order[matches], int(matches.searchsorted(column.non_null_count)))
    rows = shortest.rows()
    for predicate in others:
        rows = predicate.filter(rows)
    if sort_by != table.order_by:
        rows = rows[np.argsort(column.codes[rows], kind="stable")]
    return Selection(rows, int(np.count_nonzero(column.codes[rows] < column.null_code)))


def _predicate(table: Table, query_filter: Filter) -> Predicate:
    column = table.columns[query_filter.field]
    codes = tuple(sorted({code for key in query_filter.keys if (code := column.find(key)) is not None}))
    return Predicate(query_filter.field, column, codes, sum(map(column.count, codes)))


def _bitmaps(table: Table, predicates: Sequence[Predicate], sort_by: str) -> list[Bitmap]:
    """Return bitmaps by position in the order of a field: a cached one for each single value, one for all the rest."""
    bitmaps = [table.bitmap(each.field, each.codes[0], sort_by) for each in predicates if len(each.codes) == 1]
    masks = [each.mask() for each in predicates if len(each.codes) != 1]
    if masks:
        bitmaps.append(pack(reduce(np.logical_and, masks)[table.columns[sort_by].order]))
    return bitmaps

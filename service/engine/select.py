"""Select the rows that match the criteria of a query, by lists of rows or bitmaps, whichever is cheaper."""

from collections.abc import Iterator
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    RowBitmap,
    RowList,
    ScannedRows,
    Selection,
    bit_positions,
    is_dense,
    renumbered,
)
from service.engine.conditions import conditions
from service.engine.geography.distance_order import DistanceOrder, order_rows
from service.engine.table import Table
from service.model.coordinates import Coordinates
from service.model.query import ALL_ROWS, Criteria, Query
from service.model.records import DISTANCE

_MANY_ROWS: Final = 1000
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


def select(table: Table, criteria: Criteria, sort_by: str) -> Selection:
    """Return the rows that match, in ascending order of a field. Recent selections are cached."""
    if criteria == ALL_ROWS:
        return table.all_rows[sort_by]
    if sort_by == table.order_by:
        return matching_rows(table, criteria, sort_by)
    selection = table.selections.get((criteria, sort_by))
    if selection is None:
        matches = table.matches.get((criteria, table.order_by)) or _match(table, criteria)
        selection = _in_order(table, matches, sort_by)
        # The values of the criteria may be larger than the rows that they select.
        table.selections.put((criteria, sort_by), selection, selection.nbytes + criteria.nbytes)
    return selection


def nearest(table: Table, criteria: Criteria, point: Coordinates, stop: int | None) -> Selection:
    """Return the rows that match, in the order of their distance from a point, up to a position or all.

    Lists of rows are cached for the point: all of few, the nearest of many. Of many, their bitmap by position is, too.
    """
    if table.locations is None:
        raise ValueError("the rows have no locations")
    listed = table.nearest.get((criteria, point))
    if listed is None or not listed.reaches(stop):
        matches = None if criteria == ALL_ROWS else matching_rows(table, criteria, DISTANCE)
        if isinstance(matches, RowList):
            listed = order_rows(table.locations, point, matches.rows)
        else:
            order = DistanceOrder(table.locations, point, matches)
            if stop is None or (listed := order.nearest(stop)) is None:
                return order
        table.nearest.put((criteria, point), listed, listed.nbytes + criteria.nbytes)
    return listed


def matching_rows(table: Table, criteria: Criteria, order: str) -> RowList | RowBitmap:
    """Return the rows that match: few, or those with a value, in the default order, many as a bitmap in any.

    Recent ones are cached.
    """
    if order == table.order_by and (slice_of_column := _with_value(table, criteria)) is not None:
        return slice_of_column
    matches = table.matches.get((criteria, order))
    if matches is None:
        matches = table.matches.get((criteria, table.order_by)) or _match(table, criteria)
        if order != table.order_by:
            if isinstance(matches, RowList):
                return matches
            matches = renumbered(matches.bitmap, *table.order(order))
        table.matches.put((criteria, order), matches, matches.nbytes + criteria.nbytes)
    return matches


def are_many(count: int, table: Table) -> bool:
    """Return whether a number of rows is so large a part of a table that bitmaps are cheaper than lists of rows."""
    return is_dense(count, len(table))


def _with_value(table: Table, criteria: Criteria) -> RowList | None:
    """Return the rows with a value in the default order, a slice, if it is all that the criteria are; else None."""
    if len(criteria.filters) != 1 or criteria.terms or criteria.circle or criteria.box:
        return None
    name, keys = criteria.filters[0].field, criteria.filters[0].keys
    if len(keys) != 1 or name in table.lists:
        return None
    column = table.columns[name]
    code = column.find(keys[0])
    return _listed(table, column.order[:0] if code is None else column.postings(code))


def _match(table: Table, criteria: Criteria) -> RowList | RowBitmap:
    """Intersect lists of rows if few rows match one condition, else bitmaps."""
    fewest, *remaining = conditions(table, criteria)
    if are_many(fewest.count, table):
        bitmap = reduce(np.bitwise_and, [each.bitmap() for each in (fewest, *remaining)])
        matches = RowBitmap(bitmap, *table.order(table.order_by))
        return matches if matches.is_smaller_than_list else _listed(table, bit_positions(bitmap).astype(np.int32))
    spend(fewest.count * (1 + len(remaining)))
    rows = fewest.rows()
    for condition in remaining:
        rows = rows[condition.matches(rows)]
    return _listed(table, rows)


def _listed(table: Table, rows: Rows) -> RowList:
    """Return rows, ascending, in the default order, which they are numbered in."""
    valued = table.columns[table.order_by].non_null_count
    return RowList(rows, len(rows) if valued == len(table.rows.offsets) - 1 else int(rows.searchsorted(valued)))


def _in_order(table: Table, matches: RowList | RowBitmap, sort_by: str) -> Selection:
    column = table.columns[sort_by]
    if isinstance(matches, RowBitmap):
        return ScannedRows(matches, column.order, column.non_null_count)
    codes = column.codes.take(matches.rows)
    return RowList(_sorted(codes, matches.rows), int(np.count_nonzero(codes < column.null_code)))


def _sorted(codes: NDArray[np.unsignedinteger], rows: Rows) -> Rows:
    """Return rows, ascending, by code, ties by row. Of many, one integer of both is sorted ten times as fast."""
    if len(rows) < _MANY_ROWS:
        return rows.take(codes.argsort(kind="stable"))
    spend(len(rows))
    both = np.sort(codes.astype(np.int64) << _ROW_BITS | rows)
    return (both & _ROW_MASK).astype(np.int32)


# What is made in one step: of most rows that is a millisecond, in any format.
_BATCH_ROWS: Final = 512
_BATCH_BYTES: Final = 256 << 10


def ordered(table: Table, query: Query, stop: int | None = None) -> Selection:
    """Return the rows that match in the order of a query, by distance up to a position or all."""
    if query.sort_by == DISTANCE and query.near:
        return nearest(table, query.criteria, query.near, stop)
    return select(table, query.criteria, query.sort_by)


def batches(table: Table, query: Query, order: Selection) -> Iterator[Rows]:
    """Yield all rows of an order, a few at a time: where they are divided depends on nothing else."""
    for start in range(0, order.total, _BATCH_ROWS):
        span = range(start, min(start + _BATCH_ROWS, order.total))
        yield from table.rows.parts(order.slice(span, descending=query.descending), _BATCH_BYTES)

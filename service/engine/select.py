"""Select the rows that match the criteria of a query, by lists of rows or bitmaps, whichever is cheaper."""

from collections.abc import Iterator
from functools import reduce
from typing import Final

import msgspec
import numpy as np

from service.engine.columns.column import Rows, sort_rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    ManyRows,
    RowBitmap,
    RowList,
    RowsByNumber,
    ScannedRows,
    Selection,
    UnsortedRows,
    bit_positions,
)
from service.engine.conditions import codes_in, common_rows, conditions
from service.engine.geography.areas import circle_area
from service.engine.geography.distance_order import DistanceOrder, order_rows
from service.engine.table import Table
from service.model.coordinates import Coordinates
from service.model.query import ALL_ROWS, Criteria, Query
from service.model.records import DISTANCE

_MANY_ROWS: Final = 1000
_SORTED: Final = 2000  # sorting as many rows takes as long as finding those of a page


def select(table: Table, criteria: Criteria, sort_by: str) -> Selection:
    """Return the rows that match, in ascending order of a field. Recent selections are cached."""
    if criteria == ALL_ROWS:
        return table.all_rows[sort_by]
    selection = _slice(table, criteria, sort_by)
    if selection is not None:
        return selection
    if sort_by == table.order_by:
        return _cached(table, criteria)
    selection = table.selections.get((criteria, sort_by))
    if selection is None:
        matches = table.matches.get(criteria) or _match(table, criteria)
        selection = _in_order(table, matches, sort_by)
        # The values of the criteria may be larger than the rows that they select.
        table.selections.put((criteria, sort_by), selection, selection.nbytes + criteria.nbytes)
    return selection


def nearest(table: Table, criteria: Criteria, point: Coordinates, stop: int | None) -> Selection:
    """Return the rows that match, in the order of their distance from a point, up to a position or all.

    Lists of rows are cached for the point: all of few, the nearest of many. A circle is around the point.
    """
    listed = table.nearest.get((criteria, point))
    if listed is None or not listed.reaches(stop):
        order = _by_distance(table, criteria, point)
        if isinstance(order, RowList):
            listed = order
        elif stop is None or (listed := order.nearest(stop)) is None:
            return order
        table.nearest.put((criteria, point), listed, listed.nbytes + criteria.nbytes)
    return listed


def _by_distance(table: Table, criteria: Criteria, point: Coordinates) -> RowList | DistanceOrder:
    """Return rows by distance. Those in a circle, unless they are few among others, are the first of all others."""
    if table.locations is None:
        raise ValueError("the rows have no locations")
    area, others = None, criteria
    if criteria.circle is not None:
        area, others = circle_area(table.locations, criteria.circle), msgspec.structs.replace(criteria, circle=None)
        if others != ALL_ROWS and area.count < table.least_many:
            area, others = None, criteria
    matches = None if others == ALL_ROWS else scanned_rows(table, others, DISTANCE)
    if isinstance(matches, RowList):
        rows = matches.rows if area is None else matches.rows[area.matches(matches.rows)]
        return order_rows(table.locations, point, rows)
    return DistanceOrder(table.locations, point, matches, area)


def scanned_rows(table: Table, criteria: Criteria, order: str) -> RowList | ManyRows:
    """Return the rows that match: few in the default order, many in another, of the locations. These are cached."""
    rows = table.selections.get((criteria, order))
    if isinstance(rows, ManyRows):
        return rows
    few = _few_with_value(table, criteria)
    if few is not None:
        return few
    common = common_rows(table, criteria, order)
    many: ManyRows | None = None if common is None else RowBitmap(common, *table.order(order))
    if many is None or many.total < table.least_many:
        matches = _cached(table, criteria)
        if isinstance(matches, RowList):
            return matches
        many = ScannedRows(matches, *table.order(order))
    table.selections.put((criteria, order), many, many.nbytes + criteria.nbytes)
    return many


def matching(table: Table, criteria: Criteria) -> RowList | RowBitmap:
    """Return the rows that match, in the default order, many as a bitmap."""
    return _few_with_value(table, criteria) or _cached(table, criteria)


def _few_with_value(table: Table, criteria: Criteria) -> RowList | None:
    rows = _slice(table, criteria, table.order_by)
    return rows if isinstance(rows, RowList) and rows.total < _MANY_ROWS else None


def _cached(table: Table, criteria: Criteria) -> RowList | RowBitmap:
    """Return the rows that match, in the default order, many as a bitmap. Recent ones are cached."""
    matches = table.matches.get(criteria)
    if matches is None:
        matches = _match(table, criteria)
        table.matches.put(criteria, matches, matches.nbytes + criteria.nbytes)
    return matches


def _slice(table: Table, criteria: Criteria, sort_by: str) -> Selection | None:
    """Return the rows with a value or in an interval, if it is all that the criteria are, else None.

    They are a slice, sorted by the value, and of one value also in the default order.
    """
    filters = criteria.filters
    if len(filters) != 1 or len(filters[0].keys) != 1 or criteria != Criteria(filters):
        return None
    name, (key,) = filters[0].field, filters[0].keys
    if name in table.lists or sort_by not in (name, table.order_by):
        return None
    column = table.columns[name]
    if isinstance(key, str):
        rows = column.having(key)
    else:
        codes = codes_in(table, name, key)
        rows = column.slice(codes)
        if len(codes) > 1 and name != sort_by:
            if len(rows) >= _SORTED:
                return UnsortedRows(rows, table.all_rows[sort_by].non_null_count)
            rows = np.sort(rows)
    return RowList(rows, len(rows)) if name == sort_by else _listed(table, rows)


def _match(table: Table, criteria: Criteria) -> RowList | RowBitmap:
    """Intersect lists of rows if few rows match one condition, else bitmaps."""
    fewest, *remaining = conditions(table, criteria)
    if fewest.count >= table.least_many:
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
    return RowsByNumber(rows, table.all_rows[table.order_by].non_null_count)


def _in_order(table: Table, matches: RowList | RowBitmap, sort_by: str) -> Selection:
    """Return rows by the value of a field, ties by row."""
    column = table.columns[sort_by]
    if isinstance(matches, RowBitmap):
        return ScannedRows(matches, column.order, column.non_null_count)
    spend(len(matches.rows))
    codes, rows = sort_rows(column.codes.take(matches.rows), matches.rows)
    return RowList(rows, int(codes.searchsorted(np.uint64(column.null_code))))


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
    take = order.descending if query.descending else order.slice
    for start in range(0, order.total, _BATCH_ROWS):
        yield from table.rows.parts(take(start, min(start + _BATCH_ROWS, order.total)), _BATCH_BYTES)

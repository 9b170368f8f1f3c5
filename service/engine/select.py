"""Select the rows that match the criteria of a query, by lists of rows or bitmaps, whichever is cheaper."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.columns.selection import (
    Bitmap,
    ListedRows,
    MarkedRows,
    RowBitmap,
    RowList,
    ScannedRows,
    Selection,
    bit_positions,
    is_dense,
    pack,
    unpack,
)
from service.engine.conditions import Condition, Predicate, conditions, predicates
from service.engine.geography.areas import Area
from service.engine.geography.distance_order import DistanceOrder, NearestRows, order_rows
from service.engine.table import Table
from service.engine.text_index import TermMatch
from service.model.coordinates import Coordinates
from service.model.query import ALL_ROWS, Criteria, Query
from service.model.records import DISTANCE

_FEW_VALUES: Final = 8
_MANY_ROWS: Final = 1000
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


def select(table: Table, criteria: Criteria, sort_by: str) -> Selection:
    """Return the rows that match, in ascending order of a field. Recent selections are cached."""
    if criteria == ALL_ROWS:
        return table.all_rows[sort_by]
    selection = table.selections.get((criteria, sort_by))
    if selection is None:
        matches = table.matches.get((criteria, table.order_by)) or _match(table, criteria, table.order_by)
        selection = _in_order(table, matches, sort_by)
        # The values of the criteria may be larger than the rows that they select.
        table.selections.put((criteria, sort_by), selection, selection.nbytes + criteria.nbytes)
    return selection


def nearest(table: Table, criteria: Criteria, point: Coordinates, stop: int | None) -> Selection:
    """Return the rows that match, in the order of their distance from a point, up to a position or all.

    Lists of rows are cached for the point: all of few, the nearest of many. Of many, their bitmap by position is, too.
    """
    listed = table.nearest.get((criteria, point))
    if listed is None or not listed.reaches(stop):
        order = _by_distance(table, criteria, point)
        if not isinstance(order, DistanceOrder):
            listed = order
        elif stop is None or (listed := order.nearest(stop)) is None:
            return order
        table.nearest.put((criteria, point), listed, listed.nbytes + criteria.nbytes)
    return listed


def _by_distance(table: Table, criteria: Criteria, point: Coordinates) -> NearestRows | DistanceOrder:
    locations = table.locations
    if locations is None:
        raise ValueError("the rows have no locations")
    if criteria == ALL_ROWS:
        return DistanceOrder(locations, point)
    matches = table.matches.get((criteria, DISTANCE))
    if matches is None:
        matches = _match(table, criteria, DISTANCE)
        if isinstance(matches, RowBitmap):
            table.matches.put((criteria, DISTANCE), matches, matches.nbytes + criteria.nbytes)
    if isinstance(matches, RowBitmap):
        return DistanceOrder(locations, point, matches)
    return order_rows(locations, point, matches)


def matching_rows(table: Table, criteria: Criteria, order: str) -> RowList | RowBitmap:
    """Return the rows that match; many as a bitmap by position in an order. Recent ones are cached."""
    matches = table.matches.get((criteria, order))
    if matches is None:
        matches = _match(table, criteria, order)
        table.matches.put((criteria, order), matches, matches.nbytes + criteria.nbytes)
    return matches


def common_filters(table: Table, criteria: Criteria) -> list[Predicate] | None:
    """Return the conditions if all are filters whose values have bitmaps, else None."""
    if criteria != Criteria(criteria.filters):
        return None
    filters = predicates(table, criteria.filters)
    common = [item for item in filters if isinstance(item, Predicate) and _is_common(table, item)]
    return common if len(common) == len(filters) else None


def intersection(
    table: Table, filters: Sequence[Predicate], order: str, *, most_added: int
) -> tuple[RowBitmap | None, int]:
    """Return the rows that match common filters by position in an order if all its bitmaps are cached.

    It adds missing ones, each of which takes a millisecond of a million rows; the second result is their number.
    """
    missing = [key for predicate in filters for key in _missing(table, predicate, order)]
    for key in missing[:most_added]:
        table.bitmap(*key)
    if len(missing) > most_added:
        return None, most_added
    bitmaps = (_bitmap_of(table, predicate, order) for predicate in filters)
    return RowBitmap(reduce(np.bitwise_and, bitmaps)), len(missing)


def are_many(count: int, table: Table) -> bool:
    """Return whether a number of rows is so large a part of a table that bitmaps are cheaper than lists of rows."""
    return is_dense(count, len(table))


def _match(table: Table, criteria: Criteria, order: str) -> RowList | RowBitmap:
    """Intersect lists of rows if few rows match one condition, else bitmaps by position in an order.

    Rows that are cached in the default order are only put into another one.
    """
    matches = None if order == table.order_by else table.matches.get((criteria, table.order_by))
    if isinstance(matches, RowBitmap):
        spend(len(table))
        return RowBitmap(pack(unpack(matches.bitmap, len(table)).take(table.order(order))))
    if matches is not None:
        return matches
    fewest, *remaining = conditions(table, criteria)
    if are_many(fewest.count, table):
        return RowBitmap(reduce(np.bitwise_and, _bitmaps(table, (fewest, *remaining), order)))
    spend(fewest.count * (1 + len(remaining)))
    if order == DISTANCE and isinstance(fewest, Area):
        return _match_inside(fewest, remaining)
    rows = fewest.rows()
    for condition in remaining:
        rows = rows[condition.matches(rows)]
    return RowList(rows)


def _match_inside(area: Area, remaining: Sequence[Condition]) -> RowList:
    """Return the rows in an area that match other conditions, with their positions, to compute distances from."""
    positions = area.positions()
    rows = area.locations.order.take(positions)
    for condition in remaining:
        matching = condition.matches(rows).nonzero()[0]
        rows, positions = rows.take(matching), positions.take(matching)
    return RowList(rows, positions)


def _is_common(table: Table, predicate: Predicate) -> bool:
    """Return whether the bitmaps of the values of a predicate are cached: they are few, and many rows have each."""
    counts = map(predicate.column.count, predicate.codes)
    return len(predicate.codes) <= _FEW_VALUES and all(are_many(count, table) for count in counts)


def _missing(table: Table, predicate: Predicate, order: str) -> list[tuple[str, int, str]]:
    keys = ((predicate.field, code, order) for code in predicate.codes)
    return [key for key in keys if not table.has_bitmap(*key)]


def _in_order(table: Table, matches: RowList | RowBitmap, sort_by: str) -> Selection:
    column = table.columns[sort_by]
    if isinstance(matches, RowBitmap) and matches.is_smaller_than_list:
        kind = MarkedRows if sort_by == table.order_by else ScannedRows
        return kind(matches, column.order, column.non_null_count)
    rows = matches.rows if isinstance(matches, RowList) else bit_positions(matches.bitmap).astype(np.int32)
    if sort_by == table.order_by:  # which the rows are numbered by
        return ListedRows(rows, int(rows.searchsorted(column.non_null_count)))
    codes = column.codes.take(rows)
    return ListedRows(_sorted(codes, rows), int(np.count_nonzero(codes < column.null_code)))


def _sorted(codes: NDArray[np.unsignedinteger], rows: Rows) -> Rows:
    """Return rows, ascending, by code, ties by row. Of many, one integer of both is sorted ten times as fast."""
    if len(rows) < _MANY_ROWS:
        return rows.take(np.argsort(codes, kind="stable"))
    spend(len(rows))
    both = np.sort(codes.astype(np.int64) << _ROW_BITS | rows)
    return (both & _ROW_MASK).astype(np.int32)


def _bitmaps(table: Table, conditions: Sequence[Condition], order: str) -> list[Bitmap]:
    """Return bitmaps by position in an order: a cached one for a condition that has it, one for all the rest.

    In another order than that of the rows, a bitmap takes milliseconds of a million rows.
    """
    bitmaps: list[Bitmap] = []
    uncached: list[Condition] = []
    most_added = _FEW_VALUES * len(conditions) if order == table.order_by else 1
    for condition in conditions:
        cached = None
        if isinstance(condition, Predicate) and _is_common(table, condition):
            cached, added = intersection(table, (condition,), order, most_added=most_added)
            most_added -= added
        if cached is not None:
            bitmaps.append(cached.bitmap)
        elif isinstance(condition, TermMatch) and order == table.order_by:
            bitmaps.append(condition.bitmap())
        else:
            uncached.append(condition)
    return [*bitmaps, _bitmap(table, uncached, order)] if uncached else bitmaps


def _bitmap_of(table: Table, filtered: Predicate, order: str) -> Bitmap:
    """Return the rows with one of some common values by position in an order."""
    return reduce(np.bitwise_or, (table.bitmap(filtered.field, code, order) for code in filtered.codes))


def _bitmap(table: Table, conditions: Sequence[Condition], order: str) -> Bitmap:
    """Return the bitmap of the rows that match all of some conditions, by position in an order."""
    spend(len(table) * len(conditions))
    areas = [condition for condition in conditions if isinstance(condition, Area)]
    by_row = [condition.mask() for condition in conditions if not isinstance(condition, Area)]
    in_order = []
    if areas:
        by_position = reduce(np.logical_and, (area.mask_by_position() for area in areas))
        if order == DISTANCE:
            in_order.append(by_position)
        else:
            by_row.append(by_position.take(areas[0].locations.positions))
    if by_row:
        mask = reduce(np.logical_and, by_row)
        in_order.append(mask if order == table.order_by else mask.take(table.order(order)))
    return pack(reduce(np.logical_and, in_order))


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

"""Select the rows that match the criteria of a query, by lists of rows or bitmaps, whichever is cheaper."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np

from service.engine.areas import Area
from service.engine.bitmap import Bitmap, pack, positions, unpack
from service.engine.conditions import Condition, Predicate, conditions
from service.engine.distance_order import DistanceOrder, order_all, order_bitmap, order_rows
from service.engine.selection import RowBitmap, RowList, Selection
from service.engine.table import Table
from service.engine.text_index import TermMatch
from service.model.place import Point
from service.model.query import ALL_ROWS, Criteria
from service.model.records import DISTANCE

# If the most selective condition matches less than 1 / 64 of the rows, intersecting lists of rows and sorting is
# cheaper.
_BITMAP_FRACTION: Final = 64


def select(table: Table, criteria: Criteria, sort_by: str) -> Selection:
    """Return the rows that match, in ascending order of a field. Recent selections are cached."""
    if criteria == ALL_ROWS:
        return table.all_rows[sort_by]
    selection = table.selections.get((criteria, sort_by))
    if selection is None:
        selection = _in_order(table, _find(table, criteria, sort_by), sort_by)
        # The values of the criteria may be larger than the rows that they select.
        table.selections.put((criteria, sort_by), selection, selection.nbytes + criteria.nbytes)
    return selection


def nearest(table: Table, criteria: Criteria, point: Point) -> DistanceOrder:
    """Return the rows that match, in the order of their distance from a point."""
    locations = table.locations
    if locations is None:
        raise ValueError("the rows have no locations")
    if criteria == ALL_ROWS:
        return order_all(locations, point)
    found = find(table, criteria, DISTANCE)
    if isinstance(found, RowList):
        return order_rows(locations, point, found.rows)
    return order_bitmap(locations, point, found.bitmap)


def matching(table: Table, criteria: Criteria) -> RowList | RowBitmap:
    """Return the rows that match; many as a bitmap in the order of the rows. Recent ones are cached."""
    return find(table, criteria, table.order_by)


def are_many(count: int, table: Table) -> bool:
    """Return whether a number of rows is so large a part of a table that bitmaps are cheaper than lists of rows."""
    return count * _BITMAP_FRACTION >= len(table) > _BITMAP_FRACTION


def find(table: Table, criteria: Criteria, order: str) -> RowList | RowBitmap:
    """Return the rows that match; many as a bitmap by position in an order. Recent ones are cached."""
    found = table.found.get((criteria, order))
    if found is None:
        found = _find(table, criteria, order)
        table.found.put((criteria, order), found, found.nbytes + criteria.nbytes)
    return found


def _find(table: Table, criteria: Criteria, order: str) -> RowList | RowBitmap:
    """Intersect lists of rows if few rows match one condition, else bitmaps by position in an order.

    Rows that were found before are only put into another order.
    """
    found = table.found.get((criteria, table.order_by))
    if isinstance(found, RowBitmap) and order != table.order_by:
        return RowBitmap(pack(unpack(found.bitmap, len(table)).take(table.order(order))))
    if found is not None:
        return found
    fewest, *others = conditions(table, criteria)
    if are_many(fewest.count, table):
        return RowBitmap(reduce(np.bitwise_and, _bitmaps(table, (fewest, *others), order)))
    rows = fewest.rows()
    for condition in others:
        rows = condition.filter(rows)
    return RowList(rows)


def _in_order(table: Table, found: RowList | RowBitmap, sort_by: str) -> Selection:
    column = table.columns[sort_by]
    if isinstance(found, RowBitmap):
        matches = positions(found.bitmap)
        return Selection(column.order[matches], int(matches.searchsorted(column.non_null_count)))
    rows = found.rows
    if sort_by != table.order_by:
        rows = rows[np.argsort(column.codes[rows], kind="stable")]
    return Selection(rows, int(np.count_nonzero(column.codes[rows] < column.null_code)))


def _bitmaps(table: Table, conditions: Sequence[Condition], order: str) -> list[Bitmap]:
    """Return bitmaps by position in an order: a cached one for a condition that has it, one for all the rest.

    In another order than that of the rows, a bitmap takes milliseconds of a million rows: a query builds at most two.
    """
    bitmaps: list[Bitmap] = []
    rest: list[Condition] = []
    for condition in conditions:
        match condition:
            case Predicate(field=field, codes=(code,)) if (
                order == table.order_by or table.has_bitmap(field, code, order) or condition is conditions[-1]
            ):
                bitmaps.append(table.bitmap(field, code, order))
            case TermMatch() if order == table.order_by:
                bitmaps.append(condition.bitmap())
            case _:
                rest.append(condition)
    return [*bitmaps, _bitmap(table, rest, order)] if rest else bitmaps


def _bitmap(table: Table, conditions: Sequence[Condition], order: str) -> Bitmap:
    """Return the bitmap of the rows that match all of some conditions, by position in an order."""
    areas = [condition for condition in conditions if isinstance(condition, Area)]
    by_row = [condition.mask() for condition in conditions if not isinstance(condition, Area)]
    in_order = []
    if areas:
        by_place = reduce(np.logical_and, (area.mask_by_place() for area in areas))
        if order == DISTANCE:
            in_order.append(by_place)
        else:
            by_row.append(by_place.take(areas[0].locations.places))
    if by_row:
        mask = reduce(np.logical_and, by_row)
        in_order.append(mask if order == table.order_by else mask.take(table.order(order)))
    return pack(reduce(np.logical_and, in_order))

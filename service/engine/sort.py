"""The order of selected rows, of which only one page is ever wanted."""

import numpy as np

from service.engine.column import Column, Rows
from service.engine.table import Table

# Sorting k rows costs about k log k comparisons, walking the order of all n rows n look-ups; they meet near here.
_WALK_FRACTION = 16


def window(table: Table, rows: Rows | None, sort_by: str, span: range, *, descending: bool) -> Rows:
    """Return the rows of `span` (places within the selection) when the selection (None: all rows) is in order.

    Ascending is by value, ties by row, those without a value last. Descending is that read backwards, first the rows
    that have a value, then those that have none.
    """
    column = table.columns[sort_by]
    if rows is None:
        ascending, total, valued = column.order, len(table), column.valued
    else:
        ascending, total = rows if sort_by == table.order_by else _sorted(column, rows), len(rows)
        valued = int((column.codes[rows] < column.absent).sum())
    if not descending:
        return ascending[span.start : span.stop]
    return _backwards(ascending, span, valued=valued, total=total)


def _sorted(column: Column, rows: Rows) -> Rows:
    if len(rows) * _WALK_FRACTION < len(column.order):
        return rows[np.argsort(column.codes[rows], kind="stable")]
    mask = np.zeros(len(column.order), np.bool_)
    mask[rows] = True
    return column.order[mask[column.order]]


def _backwards(ascending: Rows, span: range, *, valued: int, total: int) -> Rows:
    start, stop, middle = span.start, min(span.stop, total), valued
    first = ascending[max(middle - stop, 0) : max(middle - start, 0)][::-1]
    last = ascending[middle + total - max(stop, middle) : middle + total - max(start, middle)][::-1]
    return np.concatenate((first, last))

"""The order of selected rows, of which only one page is ever wanted."""

import numpy as np

from service.engine.column import Rows
from service.engine.selection import Selection


def window(selection: Selection, span: range, *, descending: bool) -> Rows:
    """Return the rows of `span`, places within the selection when it is in order.

    Descending is ascending read backwards, first the rows that have a value, then those that have none.
    """
    if not descending:
        return selection.rows(span.start, span.stop)
    start, stop, middle, total = span.start, span.stop, selection.valued, len(selection)
    first = selection.rows(max(middle - stop, 0), max(middle - start, 0))[::-1]
    if stop <= middle:
        return first
    last = selection.rows(middle + total - stop, middle + total - max(start, middle))[::-1]
    return np.concatenate((first, last))

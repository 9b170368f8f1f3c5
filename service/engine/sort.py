"""The order of selected rows, of which only one page is ever wanted."""

import numpy as np

from service.engine.column import Rows
from service.engine.selection import Selection


def window(selection: Selection, span: range, *, descending: bool) -> Rows:
    """Return the rows of `span`, places within the selection when it is in order.

    Descending is ascending read backwards, first the rows that have a value, then those that have none.
    """
    rows = selection.ordered
    if not descending:
        return rows[span.start : span.stop]
    middle, total = selection.valued, len(rows)
    first = rows[max(middle - span.stop, 0) : max(middle - span.start, 0)][::-1]
    if span.stop <= middle:
        return first
    last = rows[middle + total - span.stop : middle + total - max(span.start, middle)][::-1]
    return np.concatenate((first, last))

"""Slice selected rows in ascending or descending order."""

import numpy as np

from service.engine.column import Rows
from service.engine.selection import Selection


def slice_rows(selection: Selection, span: range, *, descending: bool) -> Rows:
    """Return the rows at the positions in `span` of the sorted selection.

    Descending order reverses the rows with a value, then the rows without one.
    """
    rows = selection.rows
    if not descending:
        return rows[span.start : span.stop]
    middle, total = selection.non_null_count, len(rows)
    first = rows[max(middle - span.stop, 0) : max(middle - span.start, 0)][::-1]
    if span.stop <= middle:
        return first
    last = rows[middle + total - span.stop : middle + total - max(span.start, middle)][::-1]
    return np.concatenate((first, last))

"""Which rows pass the filters of a query."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.column import Column, Rows, merge
from service.engine.table import Table
from service.query import Filter


class _Wanted(msgspec.Struct, frozen=True, eq=False):
    """The values of one column that a filter takes, as codes, and how many rows hold one of them."""

    column: Column
    codes: NDArray[np.int32]
    count: int

    def keep(self, rows: Rows) -> Rows:
        """Return those of the rows that hold a wanted value."""
        held = self.column.codes[rows]
        return rows[held == self.codes[0] if len(self.codes) == 1 else np.isin(held, self.codes)]


def select(table: Table, filters: Sequence[Filter]) -> Rows | None:
    """Return the rows that pass every filter, ascending; None stands for all rows, where nothing filters."""
    if not filters:
        return None
    shortest, *others = sorted((_wanted(table, each) for each in filters), key=lambda wanted: wanted.count)
    rows = merge(shortest.column.rows(code) for code in shortest.codes.tolist())
    for wanted in others:
        if len(rows) == 0:
            break
        rows = wanted.keep(rows)
    return rows


def _wanted(table: Table, wish: Filter) -> _Wanted:
    column = table.columns[wish.field]
    found = {code for key in wish.keys if (code := column.find(key)) is not None}
    codes = np.array(sorted(found), np.int32)
    return _Wanted(column, codes, int((column.starts[codes + 1] - column.starts[codes]).sum()))

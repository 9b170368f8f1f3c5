"""Which rows pass the filters of a query, by the cheapest way that the counts tell."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Words, members, pack
from service.engine.column import Column, Rows, merge
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.query import Filter, nbytes

# Below this part of the rows, intersecting lists of rows and sorting what is left costs less than bits of all rows.
_FEW: Final = 64


class _Wanted(msgspec.Struct, frozen=True, eq=False):
    """The values of a field that a filter takes, as codes, and how many rows hold one of them."""

    field: str
    column: Column
    codes: tuple[int, ...]
    count: int

    def rows(self) -> Rows:
        """Return the rows that hold a wanted value, ascending."""
        return merge(map(self.column.rows, self.codes))

    def keep(self, rows: Rows) -> Rows:
        """Return those of the rows that hold a wanted value."""
        return rows[self._among(self.column.codes[rows])]

    def mask(self) -> NDArray[np.bool_]:
        """Return for each row whether it holds a wanted value."""
        return self._among(self.column.codes)

    def _among(self, held: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        among: NDArray[np.bool_]
        if len(self.codes) == 1:
            among = held == self.codes[0]
        else:
            wanted = np.zeros(self.column.absent + 1, np.bool_)
            wanted[list(self.codes)] = True
            among = wanted[held]
        return among


def select(table: Table, filters: tuple[Filter, ...], sort_by: str) -> Selection:
    """Return the rows that pass every filter, in ascending order of a field. The last selections are cached."""
    if not filters:
        column = table.columns[sort_by]
        return Selection(column.order, column.valued)
    selection = table.selections.get((filters, sort_by))
    if selection is None:
        selection = _worked_out(table, filters, sort_by)
        # The values that are filtered by may take more bytes than what they select.
        table.selections.put((filters, sort_by), selection, selection.nbytes + nbytes(filters))
    return selection


def _worked_out(table: Table, filters: Sequence[Filter], sort_by: str) -> Selection:
    """Go through lists of rows where one filter holds few, else through bits of all rows."""
    column = table.columns[sort_by]
    shortest, *others = sorted((_wanted(table, each) for each in filters), key=lambda wanted: wanted.count)
    if shortest.count * _FEW >= len(table) > _FEW:
        places = members(reduce(np.bitwise_and, _bits(table, (shortest, *others), sort_by)))
        return Selection(column.order[places], int(places.searchsorted(column.valued)))
    rows = shortest.rows()
    for wanted in others:
        rows = wanted.keep(rows)
    if sort_by != table.order_by:
        rows = rows[np.argsort(column.codes[rows], kind="stable")]
    return Selection(rows, int(np.count_nonzero(column.codes[rows] < column.absent)))


def _wanted(table: Table, wish: Filter) -> _Wanted:
    column = table.columns[wish.field]
    codes = tuple(sorted({code for key in wish.keys if (code := column.find(key)) is not None}))
    return _Wanted(wish.field, column, codes, sum(map(column.count, codes)))


def _bits(table: Table, filters: Sequence[_Wanted], sort_by: str) -> list[Words]:
    """Return each filter as bits by places in the order of a field; those of one value are kept, the others merged."""
    bits = [table.bits(wanted.field, wanted.codes[0], sort_by) for wanted in filters if len(wanted.codes) == 1]
    masks = [wanted.mask() for wanted in filters if len(wanted.codes) != 1]
    if masks:
        bits.append(pack(reduce(np.logical_and, masks)[table.columns[sort_by].order]))
    return bits

"""Facets: how often the values of a field occur in the rows that match a query."""

from collections.abc import Iterator
from functools import cached_property, reduce
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.bitmap import Bitmap, count_between, pack
from service.engine.column import Rows
from service.engine.conditions import Predicate, predicates
from service.engine.projection import decode
from service.engine.select import are_many
from service.engine.table import Table
from service.model.envelope import MAX_FACET_VALUES, Facet, FacetValue
from service.model.query import ALL_ROWS, Criteria

# Row numbers, codes and counts.
_Numbers: TypeAlias = NDArray[np.integer]
# A query of more values than this is counted by rows, so that it does not fill the cache of bitmaps.
_MAX_BITMAPS: Final = 16
# If more than this part of the rows match, or have distinct values, a bitmap of the rows is cheaper than their codes.
_MASK_FRACTION: Final = 3


class Matches:
    """The rows that match some criteria, for counting the values of fields in them."""

    def __init__(self, table: Table, criteria: Criteria, rows: Rows) -> None:
        self._table, self._criteria, self._rows = table, criteria, rows
        self._has_built = False

    def facet(self, name: str) -> Facet:
        """Return the facet of a field. Recent facets are cached."""
        facet = self._table.facets.get((self._criteria, name))
        if facet is None:
            facet = _facet(self._table, name, *self._count(name), total=len(self._rows))
            self._table.facets.put((self._criteria, name), facet, facet.nbytes + self._criteria.nbytes)
        return facet

    def _count(self, name: str) -> tuple[_Numbers, _Numbers]:
        """Return the codes of the values that occur, ascending, and how often each occurs."""
        column = self._table.columns[name]
        if len(self._rows) < column.null_code and not are_many(len(self._rows), self._table):
            codes, counts = np.unique(column.codes.take(self._rows), return_counts=True)
            present = int(codes.searchsorted(column.null_code))
            return codes[:present], counts[:present]
        counts = self._count_all(name)
        codes = counts.nonzero()[0]
        return codes, counts[codes]

    def _count_all(self, name: str) -> _Numbers:
        """Return how often each value of a field occurs, by code."""
        column = self._table.columns[name]
        if self._criteria == ALL_ROWS:
            return np.diff(column.starts)
        # In the order of the field, the rows with a value are next to each other.
        if are_many(len(self._rows), self._table) and self._has_bitmaps(name):
            return count_between(reduce(np.bitwise_and, self._bitmaps(name)), column.starts)
        if max(len(self._rows), column.null_code) * _MASK_FRACTION > len(self._table):
            return count_between(pack(self._mask.take(column.order)), column.starts)
        return np.bincount(column.codes.take(self._rows), minlength=column.null_code)[: column.null_code]

    def _has_bitmaps(self, name: str) -> bool:
        """Return whether bitmaps are cached, all but one at most.

        If more are missing, one is built for later queries, only one, because it takes a millisecond of a million rows.
        """
        if self._criteria != Criteria(self._criteria.filters):  # areas and words have no bitmaps in this order
            return False
        needed = [(each.field, code, name) for each in self._predicates for code in each.codes]
        if len(needed) > _MAX_BITMAPS:
            return False
        missing = [each for each in needed if not self._table.has_bitmap(*each)]
        if len(missing) <= 1:
            return True
        if not self._has_built:
            self._table.bitmap(*missing[0])
            self._has_built = True
        return False

    def _bitmaps(self, name: str) -> Iterator[Bitmap]:
        """Yield for each filter the bitmap of the rows that match it, by position in the order of a field."""
        for each in self._predicates:
            yield reduce(np.bitwise_or, (self._table.bitmap(each.field, code, name) for code in each.codes))

    @cached_property
    def _predicates(self) -> list[Predicate]:
        return predicates(self._table, self._criteria.filters)

    @cached_property
    def _mask(self) -> NDArray[np.bool_]:
        """For each row whether it matches."""
        mask = np.zeros(len(self._table), np.bool_)
        mask[self._rows] = True
        return mask


def _facet(table: Table, name: str, codes: _Numbers, counts: _Numbers, *, total: int) -> Facet:
    column, shown = table.columns[name], _most_frequent(counts)
    first = column.order[column.starts[codes[shown]]]
    spelled = (msgspec.json.decode(getattr(row, name)) for row in decode(table.json(first), (name,)))
    values = [FacetValue(value, count) for value, count in zip(spelled, counts[shown].tolist(), strict=True)]
    missing = total - int(counts.sum())
    if missing:
        values.append(FacetValue(None, missing))
    return Facet(len(codes), values)


def _most_frequent(counts: _Numbers) -> NDArray[np.intp]:
    """Return the places of the largest counts, descending, ties by place."""
    if len(counts) <= MAX_FACET_VALUES:
        places = np.arange(len(counts))
    else:
        least = -np.partition(-counts, MAX_FACET_VALUES - 1)[MAX_FACET_VALUES - 1]
        more = (counts > least).nonzero()[0]
        places = np.concatenate((more, (counts == least).nonzero()[0][: MAX_FACET_VALUES - len(more)]))
    return places[np.argsort(-counts[places], kind="stable")]

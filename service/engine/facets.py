"""Facets: how often the values of a field occur in the rows that match a query."""

from functools import cached_property
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.projection import decode
from service.engine.select import find
from service.engine.selection import RowBitmap, RowList
from service.engine.table import Table
from service.model.envelope import MAX_FACET_VALUES, Facet, FacetValue
from service.model.query import ALL_ROWS, Criteria

# Row numbers, codes and counts.
_Numbers: TypeAlias = NDArray[np.integer]
# The parts of all values whose largest counts are compared.
_PARTS: Final = 1024


class Matches:
    """The rows that match some criteria, for counting the values of fields in them."""

    def __init__(self, table: Table, criteria: Criteria) -> None:
        self._table, self._criteria = table, criteria

    def facet(self, name: str) -> Facet:
        """Return the facet of a field. Recent facets are cached."""
        facet = self._table.facets.get((self._criteria, name))
        if facet is None:
            facet = _facet(self._table, name, *self._count(name), total=self._total)
            self._table.facets.put((self._criteria, name), facet, facet.nbytes + self._criteria.nbytes)
        return facet

    def _count(self, name: str) -> tuple[_Numbers | None, _Numbers]:
        """Return the codes of the values that occur, ascending, and how often each occurs; None: all, by code."""
        column = self._table.columns[name]
        if self._criteria == ALL_ROWS:
            return None, np.diff(column.starts)
        found = self._found
        if isinstance(found, RowBitmap):
            found = find(self._table, self._criteria, name)
        if isinstance(found, RowBitmap):
            return None, np.diff(found.ranks(column.starts))
        codes = column.codes.take(found.rows)
        if len(codes) < column.null_code:
            return _runs(np.sort(codes), column.null_code)
        return None, np.bincount(codes, minlength=column.null_code)[: column.null_code]

    @property
    def _total(self) -> int:
        """The number of matching rows."""
        return len(self._table) if self._criteria == ALL_ROWS else self._found.count

    @cached_property
    def _found(self) -> RowList | RowBitmap:
        return find(self._table, self._criteria, self._table.order_by)


def _runs(codes: NDArray[np.unsignedinteger], end: int) -> tuple[_Numbers, _Numbers]:
    """Return the distinct codes below an end, ascending, and how often each occurs; `codes` are ascending."""
    codes = codes[: codes.searchsorted(end)]
    starts = np.append(True, codes[1:] != codes[:-1]).nonzero()[0] if len(codes) else codes
    return codes[starts], np.diff(starts, append=len(codes))


def _facet(table: Table, name: str, codes: _Numbers | None, counts: _Numbers, *, total: int) -> Facet:
    column, shown = table.columns[name], _most_frequent(counts)
    first = column.order[column.starts[shown if codes is None else codes[shown]]]
    spelled = (msgspec.json.decode(getattr(row, name)) for row in decode(table.json(first), (name,)))
    values = [FacetValue(value, count) for value, count in zip(spelled, counts[shown].tolist(), strict=True)]
    missing = total - int(counts.sum())
    if missing:
        values.append(FacetValue(None, missing))
    return Facet(int(np.count_nonzero(counts)), values)


def _most_frequent(counts: _Numbers) -> NDArray[np.intp]:
    """Return the places of the largest counts but 0, descending, ties by place."""
    places = (counts >= _least(counts)).nonzero()[0]
    if len(places) > MAX_FACET_VALUES:
        candidates = counts[places]
        least = -np.partition(-candidates, MAX_FACET_VALUES - 1)[MAX_FACET_VALUES - 1]
        more = (candidates > least).nonzero()[0]
        ties = (candidates == least).nonzero()[0][: MAX_FACET_VALUES - len(more)]
        places = places[np.concatenate((more, ties))]
    return places[np.argsort(-counts[places], kind="stable")]


def _least(counts: _Numbers) -> int:
    """Return a count that all of the largest reach, but 0: as many parts of all counts have one that is as large."""
    size = len(counts) // _PARTS
    if size <= 1:
        return 1
    largest = counts[: size * _PARTS].reshape(_PARTS, size).max(axis=1)
    return max(int(np.partition(largest, -MAX_FACET_VALUES)[-MAX_FACET_VALUES]), 1)

"""Facets: how often the values of a field occur in the rows that match a query."""

from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter
from sys import getsizeof
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, expand
from service.engine.columns.ranking import ListTexts
from service.engine.columns.row_budget import LOOKED_UP, spend
from service.engine.columns.selection import RowBitmap, UnsortedRows, bit_positions
from service.engine.row_json import decode_rows
from service.engine.select import matching, select
from service.engine.table import Table
from service.model.envelope import MAX_FACET_VALUES, Facet, FacetValue
from service.model.kinds import fold
from service.model.query import ALL_ROWS, Criteria

# Row numbers, codes and counts.
_Numbers: TypeAlias = NDArray[np.integer]
# If more than this part of the rows match, those that do not are counted instead.
_MOST: Final = 0.6
# The spellings of all values of a field are kept if they are at most as many.
_FEW_VALUES: Final = 1024
# To read a spelling takes as long as to look at so many rows, and to read a text of a list.
_READING: Final = 64
_READING_TEXT: Final = 128
_ENCODE: Final = msgspec.json.Encoder().encode
_NUMBER_STARTS: Final = frozenset({b"-", *(b"%d" % digit for digit in range(10))})


class Matches:
    """The rows that match some criteria, for counting the values of fields in them."""

    def __init__(self, table: Table, criteria: Criteria) -> None:
        self._table, self._criteria = table, criteria

    def facet(self, name: str) -> msgspec.Raw:
        """Return the `Facet` of a field as JSON. Recent facets are cached."""
        facet = self._table.facets.get((self._criteria, name))
        if facet is None:
            codes, counts, total = self._count(name)
            encoded = _ENCODE(_facet(self._table, name, codes, counts, total=total))
            facet = msgspec.Raw(encoded)
            self._table.facets.put((self._criteria, name), facet, getsizeof(encoded) + self._criteria.nbytes)
        return facet

    def _count(self, name: str) -> tuple[_Numbers | None, _Numbers, int]:
        """Return the codes of the values that occur (None: all), how often each occurs, and the number of rows."""
        column, length = self._table.columns[name], len(self._table)
        values = column.null_code
        spend(values)
        if self._criteria == ALL_ROWS:
            return None, column.starts[1:] - column.starts[:-1], length
        total = len(self._rows)
        if total < min(values, self._table.least_many):
            spend(total)
            return *_runs(column.codes.take(self._rows), values), total
        if total <= _MOST * length:
            return None, _count_codes(column, self._rows), total
        return None, column.starts[1:] - column.starts[:-1] - _count_codes(column, self._others), total

    @cached_property
    def _rows(self) -> _Numbers:
        """The matching rows, ascending: neighbours in memory are read several times as fast."""
        matches = select(self._table, self._criteria, self._table.order_by)
        if isinstance(matches, UnsortedRows):
            matches = matching(self._table, self._criteria)
        return bit_positions(matches.bitmap) if isinstance(matches, RowBitmap) else matches.slice(0, matches.total)

    @cached_property
    def _others(self) -> _Numbers:
        """The rows that do not match, ascending."""
        length, matches = len(self._table), matching(self._table, self._criteria)
        spend(length // LOOKED_UP)
        if isinstance(matches, RowBitmap):
            others = bit_positions(~matches.bitmap)
            return others[: others.searchsorted(length)]
        mask = np.ones(length, np.bool_)
        mask[self._rows] = False
        return mask.nonzero()[0]


def _count_codes(column: Column, rows: _Numbers) -> _Numbers:
    """Return how often each value of a field occurs in some rows, by code."""
    spend(len(rows) // LOOKED_UP)
    return np.bincount(column.codes.take(rows), minlength=column.null_code)[: column.null_code]


def _runs(codes: NDArray[np.unsignedinteger], end: int) -> tuple[_Numbers, _Numbers]:
    """Return the distinct codes below an end, ascending, and how often each occurs."""
    codes.sort()
    codes = codes[: codes.searchsorted(codes.dtype.type(end))]
    changes = np.ones(len(codes) + 1, np.bool_)
    changes[1:-1] = codes[1:] != codes[:-1]
    edges = changes.nonzero()[0]
    return codes[edges[:-1]], edges[1:] - edges[:-1]


def _facet(table: Table, name: str, codes: _Numbers | None, counts: _Numbers, *, total: int) -> Facet:
    lists, missing = table.lists.get(name), total - int(np.add.reduce(counts))
    if lists is not None:
        codes, counts = None, lists.count(codes, counts)
    shown = _most_frequent(counts)
    spelled = _spellings(table, name, shown if codes is None else codes[shown])
    values = list(map(FacetValue, spelled, counts[shown].tolist()))
    if missing:
        values.append(FacetValue(None, missing))
    return Facet(int(np.count_nonzero(counts)), values)


def _spellings(table: Table, name: str, values: _Numbers) -> list[object]:
    """Return values of a field, by code or by text of its lists, as clients see them; all are kept if they are few."""
    lists = table.lists.get(name)
    count = table.columns[name].null_code if lists is None else len(lists.keys)
    if count > _FEW_VALUES:
        return read_spellings(table, name, values)
    kept = table.spellings.get(name)
    if kept is None:
        spend(_READING * count)
        kept = table.spellings[name] = read_spellings(table, name, np.arange(count))
    return [kept[value] for value in values.tolist()]


def read_spellings(table: Table, name: str, values: _Numbers) -> list[object]:
    """Return values of a field, by code or by text of its lists, as the first row with each has it."""
    column, lists = table.columns[name], table.lists.get(name)
    if lists is None:
        shown = _members(table, column.order[column.starts[values]], name)
        # Numbers keep their digits.
        return [msgspec.Raw(each) if each[:1] in _NUMBER_STARTS else msgspec.json.decode(each) for each in shown]
    rows, positions = np.unique(_first_rows(column, lists, values), return_inverse=True)
    codes = column.codes[rows].astype(np.intp)
    spend(_READING_TEXT * int((lists.offsets[codes + 1] - lists.offsets[codes]).sum()))
    read = [_by_key(value) for value in _members(table, rows, name)]
    pairs = zip(positions.tolist(), values.tolist(), strict=True)
    return [read[position][lists.keys[value].decode()] for position, value in pairs]


def _members(table: Table, rows: Rows, name: str) -> Iterator[bytes]:
    """Yield a member of rows as JSON."""
    return map(bytes, map(attrgetter(name), decode_rows(table.json(rows), (name,)))) if len(rows) else iter(())


def _first_rows(column: Column, lists: ListTexts, texts: _Numbers) -> Rows:
    """Return the first row with each of some texts of lists."""
    starts, counts = lists.starts[texts], lists.starts[texts + 1] - lists.starts[texts]
    spend(int(counts.sum()))
    having = lists.lists[expand(starts, counts)]
    first: Rows = np.minimum.reduceat(column.order[column.starts[having]], counts.cumsum() - counts)
    return first


def _by_key(value: bytes) -> dict[str, str]:
    """Return the texts of a list by key, the first of each."""
    texts = msgspec.json.decode(value, type=list[str])
    return {fold(text): text for text in reversed(texts)}


def _most_frequent(counts: _Numbers) -> NDArray[np.intp]:
    """Return the positions of the largest counts but 0, descending, ties by position."""
    positions = counts.nonzero()[0]
    if len(positions) > MAX_FACET_VALUES:
        candidates = counts[positions]
        least = -np.partition(-candidates, MAX_FACET_VALUES - 1)[MAX_FACET_VALUES - 1]
        more = (candidates > least).nonzero()[0]
        ties = (candidates == least).nonzero()[0][: MAX_FACET_VALUES - len(more)]
        positions = positions[np.concatenate((more, ties))]
    return positions[(-counts[positions]).argsort(kind="stable")]

"""Build a table from rows, and the normalized keys of their fields.

Columns are ranked ahead by threads: NumPy sorts without the GIL, while the words of earlier columns are indexed.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from service.engine.column import Column, build_column, rank
from service.engine.locations import build_locations
from service.engine.string_array import StringArray
from service.engine.table import Table
from service.engine.text_index_builder import TextIndexBuilder

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Args = ParamSpec("_Args")
_THREADS: Final = 2  # more would hold more columns in memory at once
# So few rows are ranked sooner than threads start.
_FEW: Final = 2_000


class TableBuilder:
    """Collects rows, the normalized keys of their fields and the texts to search, and builds the table."""

    def __init__(
        self,
        fields: Mapping[str, bool],
        *,
        order_by: str,
        key: str,
        searched: Sequence[str] = (),
        coordinates: tuple[str, str] | None = None,
    ) -> None:
        """Start a table of `fields` (name -> whether it is a filter); rows are ordered by `order_by`, ties by `key`.

        The index of words has the texts of the `searched` fields. `coordinates` are the filters latitude and longitude,
        if the rows have a location.
        """
        self._fields = fields
        self._order_by, self._key = order_by, key
        self._coordinates = coordinates
        self._rows: list[bytes] = []
        self._keys: dict[str, list[bytes]] = {name: [] for name in fields}
        self._texts: dict[str, list[bytes]] = {name: [] for name in searched}

    def add(self, rows: Sequence[bytes], keys: Mapping[str, bytes], texts: Mapping[str, bytes] | None = None) -> None:
        """Append rows, each followed by `ROW_END`, and the keys of each field, in the format of `join_keys`.

        `texts` are those of searched fields, in the same format, where their keys have other words.
        """
        self._rows.extend(rows)
        for name, parts in self._keys.items():
            parts.append(keys[name])
        for name, parts in self._texts.items():
            parts.append((texts or keys).get(name, keys[name]))

    def build(self, referenced: Mapping[str, Mapping[bytes, bytes]] | None = None) -> Table:
        """Return the table, its rows in the default order; the builder cannot be used afterwards.

        `referenced` are more texts to search: field -> key -> the text of the rows with that key.
        """
        with _Inline() if len(self._rows) <= _FEW else ThreadPoolExecutor(_THREADS) as threads:
            first = (self._order_by, self._key)
            ranked = dict(zip(first, threads.map(self._rank, first), strict=True))
            numbering = np.lexsort((ranked[self._key][0], ranked[self._order_by][0]))
            others = _ahead(threads, self._rank, [name for name in self._fields if name not in first])
            rows = self._number_rows(numbering)
            columns, text = dict[str, Column](), TextIndexBuilder()
            for name, filters in self._fields.items():
                codes, distinct = ranked.pop(name) if name in ranked else next(others)
                columns[name] = build_column(codes[numbering], distinct, filters=filters)
                if name in self._texts:
                    text.add(*self._searched(name, columns[name], distinct, numbering))
                if referenced and name in referenced:
                    text.add(columns[name], StringArray.of([referenced[name].get(key, b"") for key in distinct]))
            located = self._coordinates and threads.submit(
                build_locations, *map(columns.__getitem__, self._coordinates)
            )
            index = text.build(len(rows))
            locations = located.result() if located else None
        return Table(rows, columns, order_by=self._order_by, key=self._key, text=index, locations=locations)

    def _number_rows(self, numbering: NDArray[np.intp]) -> StringArray:
        """Return the rows in the default order, and forget them."""
        rows = StringArray.of(list(map(self._rows.__getitem__, numbering.tolist())))
        self._rows = []
        return rows

    def _rank(self, name: str) -> tuple[NDArray[np.int32], StringArray]:
        keys = self._keys.pop(name)
        if self._texts.get(name) == keys:
            self._texts[name] = []  # its texts are its keys
        return rank(keys)

    def _searched(
        self, name: str, column: Column, distinct: StringArray, numbering: NDArray[np.intp]
    ) -> tuple[Column, StringArray]:
        """Return the distinct texts of a field, and the rows of each as a column."""
        texts = self._texts.pop(name)
        if not texts:
            return column, distinct
        codes, distinct = rank(texts)
        return build_column(codes[numbering], distinct, filters=False), distinct


class _Inline(Executor):
    """Computes at once what is submitted."""

    def submit(self, fn: Callable[_Args, _Result], /, *args: _Args.args, **kwargs: _Args.kwargs) -> Future[_Result]:
        done = Future[_Result]()
        done.set_result(fn(*args, **kwargs))
        return done


def _ahead(threads: Executor, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield the result of each item in order; that of the next is computed meanwhile."""
    pending = deque[Future[_Result]]()
    for item in items:
        pending.append(threads.submit(function, item))
        if len(pending) > 1:
            yield pending.popleft().result()
    yield from (future.result() for future in pending)

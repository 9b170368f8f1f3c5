"""A table: rows already encoded, numbered in the default order, with a column for each field."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from service.engine.bitmap import Words, pack
from service.engine.bounded_cache import BoundedCache
from service.engine.column import Column, ColumnBuilder, build_column
from service.engine.selection import Selection
from service.engine.texts import Texts
from service.model.query import Filter

# Bitmaps and selections are cached up to so many bytes each, but a few of them however long the table is: a row takes
# 4 bytes in a selection.
_CACHE_BYTES: Final = 32 << 20
_MIN_CACHED: Final = 4
_ROW_BYTES: Final = 4


class Table:
    """Rows and their columns by field. Immutable.

    rows      the bytes of each row's answer, a comma behind it
    columns   field -> its column
    order_by  the field whose order the rows are numbered in, ties by `key`
    key       the field that identifies a row

    It caches the last `selections` by their filters and order, which a client that walks pages repeats, and the last
    bitmaps. Both depend on nothing but their key and on the table, which owns the caches and never changes.
    """

    def __init__(self, rows: Texts, columns: Mapping[str, Column], *, order_by: str, key: str) -> None:
        self.rows = rows
        self.columns = columns
        self.order_by, self.key = order_by, key
        max_bytes = max(_CACHE_BYTES, _MIN_CACHED * _ROW_BYTES * len(rows))
        self.selections = BoundedCache[tuple[tuple[Filter, ...], str], Selection](max_bytes)
        self._bits = BoundedCache[tuple[str, int, str], Words](max_bytes)

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, key: str) -> bytes | None:
        """Return the row of an identifier, without its comma, or None."""
        column = self.columns[self.key]
        code = column.find(key)
        return None if code is None else self.rows[int(column.rows(code)[0])][:-1]

    def bits(self, field: str, code: int, sort_by: str) -> Words:
        """Return the rows that hold a value as bits by their places in the order of a field. The last are cached."""
        bits = self._bits.get((field, code, sort_by))
        if bits is None:
            held = self.columns[field].codes == code
            bits = pack(held if sort_by == self.order_by else held[self.columns[sort_by].order])
            self._bits.put((field, code, sort_by), bits, bits.nbytes)
        return bits


class TableBuilder:
    """Gathers rows and the matched forms of their fields, and builds the table."""

    def __init__(self, fields: Mapping[str, bool], *, order_by: str, key: str) -> None:
        """Start a table of `fields` (name -> whether it is filtered by); its rows go by `order_by`, ties by `key`."""
        self._fields = fields
        self._order_by, self._key = order_by, key
        self._rows: list[bytes] = []
        self._columns = {name: ColumnBuilder() for name in fields}

    def add(self, rows: Sequence[bytes], keys: Mapping[str, bytes]) -> None:
        """Append rows, each with a comma behind it, and for each field their matched forms, as `join_keys` has them."""
        self._rows.extend(rows)
        for name, column in self._columns.items():
            column.add(keys[name])

    def build(self) -> Table:
        """Return the table, its rows in the default order; the builder is used up."""
        ranked = {name: self._columns.pop(name).rank() for name in (self._order_by, self._key)}
        numbering = np.lexsort((ranked[self._key][0], ranked[self._order_by][0]))
        columns = {}
        for name, filters in self._fields.items():
            codes, distinct = ranked[name] if name in ranked else self._columns.pop(name).rank()
            columns[name] = build_column(codes[numbering], distinct, filters=filters)
        rows = Texts.of(list(map(self._rows.__getitem__, numbering.tolist())))
        self._rows = []
        return Table(rows, columns, order_by=self._order_by, key=self._key)

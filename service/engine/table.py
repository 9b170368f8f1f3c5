"""A table: encoded rows, numbered in the default order, and a column for each field."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

import msgspec

from service.engine.columns.bounded_cache import BoundedCache
from service.engine.columns.column import Column, Rows, SortedStrings, StringArray
from service.engine.columns.ranking import ListTexts
from service.engine.columns.row_budget import COMPARED, LOOKED_UP, spend
from service.engine.columns.selection import Bitmap, RowBitmap, RowList, Selection, least_dense, pack
from service.engine.geography.locations import Locations
from service.engine.geography.z_order import Z_ORDER
from service.engine.opening_hours import OpenTimes
from service.engine.text_index import TextIndex
from service.model.coordinates import Coordinates
from service.model.kinds import served_instant_key
from service.model.query import Criteria
from service.model.records import CREATED_AT, DISTANCE

# The sizes of the caches in bytes. Those of selections and bitmaps hold at least a few selections of all rows.
_SELECTION_BYTES: Final = 48 << 20
_NEAREST_BYTES: Final = 32 << 20
_MATCHES_BYTES: Final = 16 << 20
_BITMAP_BYTES: Final = 32 << 20
_FACET_BYTES: Final = 4 << 20
_MIN_SELECTIONS: Final = 4
_ROW_BYTES: Final = 4
_OVERHEAD: Final = 2048  # of a selection with a few criteria
_ENCODE: Final = msgspec.json.Encoder().encode
_DISTANCE: Final = f',"{DISTANCE}":'.encode()  # as the last member
_END: Final = b"}"
_CREATED: Final = f'"{CREATED_AT}":"'.encode()
# After each row, so that consecutive rows are one view of the buffer.
ROW_END: Final = b","
_BREAK: Final = b"\0"  # in no JSON


def _key(text: str) -> bytes:
    """Return the key of a date-time; the first of all for none, which only a damaged file has."""
    try:
        return served_instant_key(text).encode()
    except (ValueError, OverflowError):
        return b""


class RowTimes(SortedStrings):
    """The distinct times of creation, by code, as normalized keys: each is that of its first row.

    Rows are numbered by them, so that they need no array.
    """

    samples = 32_768  # to read one takes several times as long

    def __init__(self, rows: StringArray, column: Column) -> None:
        self._data, self._offsets, self._starts = rows.data, rows.offsets.data, column.starts[:-1].data

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, code: int) -> bytes:
        number = self._starts[code]
        row = bytes(self._data[self._offsets[number] : self._offsets[number + 1]])
        start = row.find(_CREATED) + len(_CREATED)  # nothing else in a row is so written
        text = row[start : row.find(b'"', start)]
        # In UTC it is served as its key, but for the `Z`.
        return text[:-1] if text[-1:] == b"Z" else _key(text.decode())


class Table:
    """Rows and their columns by field. Immutable.

    rows       each row as JSON, followed by `ROW_END`
    columns    field -> its column
    lists      field whose values are lists -> their texts; its column has a code for each distinct list
    order_by   the field that the rows are numbered by, ties by `key`
    key        the field that identifies a row
    text       the words of the rows
    locations  where the rows are; None if they have no coordinates
    hours      when the values of the column of opening hours are open, if there is one
    times      by which the rows are numbered

    json        returns rows as chunks of JSON that concatenate to a list body
    all_rows    sort field -> all rows, in that order
    least_many  the fewest rows whose bitmap is cheaper than their list

    It caches the last `matches` in the default order by criteria, the last `selections` by criteria and another order
    (of a field, by distance, along the Z-order), the rows `nearest` to points by criteria and point, the last `facets`
    by criteria and field, which a client that pages through results repeats, and the last bitmaps; it keeps the
    `spellings` of the values of fields that have few. All depend only on their key and on the table.
    """

    def __init__(  # noqa: PLR0913 - the parts of a table
        self,
        rows: StringArray,
        columns: Mapping[str, Column],
        *,
        order_by: str,
        key: str,
        text: TextIndex,
        locations: Locations | None = None,
        lists: Mapping[str, ListTexts] = MappingProxyType({}),
        hours: OpenTimes | None = None,
    ) -> None:
        self.rows, self.json = rows, partial(rows.chunks, without=len(ROW_END))
        self.columns, self.lists = columns, lists
        self.text, self.locations, self.hours = text, locations, hours
        self.order_by, self.key = order_by, key
        self.least_many = least_dense(len(self))
        least = _MIN_SELECTIONS * (_ROW_BYTES * len(rows) + _OVERHEAD)
        self.all_rows = {name: RowList(each.order, each.non_null_count) for name, each in columns.items()}
        self.selections = BoundedCache[tuple[Criteria, str], Selection](max(_SELECTION_BYTES, least))
        self.nearest = BoundedCache[tuple[Criteria, Coordinates], RowList](_NEAREST_BYTES)
        self.matches = BoundedCache[Criteria, RowList | RowBitmap](max(_MATCHES_BYTES, least))
        self.facets = BoundedCache[tuple[Criteria, str], msgspec.Raw](_FACET_BYTES)
        self.spellings: dict[str, list[object]] = {}
        self.times = RowTimes(rows, columns[order_by])
        self._bitmaps = BoundedCache[tuple[str, int, str], Bitmap](max(_BITMAP_BYTES, least))

    def __len__(self) -> int:
        return len(self.rows.offsets) - 1

    def prepare(self) -> None:
        """Make the indexes by which values and words are found, so that no request has to."""
        columns = [column.values for column in self.columns.values() if column.values is not None]
        times = [] if self.locations is None else [self.times]  # companies are not filtered by them
        for strings in (*columns, self.text.words, *(lists.keys for lists in self.lists.values()), *times):
            strings.sparse_index  # noqa: B018 - which is kept

    def row(self, number: int) -> memoryview:
        """Return a row as JSON."""
        return self.rows.view(number, without=len(ROW_END))

    def json_with_distances(
        self, rows: Rows, distances: Sequence[float | None], separator: bytes = b","
    ) -> list[bytes]:
        """Return rows with their distances as one chunk of JSON that is a list body, or has another separator."""
        between = _END + separator + _BREAK + _DISTANCE
        members = (_DISTANCE + _ENCODE(distances)[1:-1].replace(b",", between) + _END).split(_BREAK)
        chunks: list[bytes | memoryview] = [b""] * (2 * len(members))
        chunks[::2] = self.rows.views(rows, without=len(_END + ROW_END))
        chunks[1::2] = members
        return [b"".join(chunks)]

    def order(self, name: str) -> tuple[Rows, int]:
        """Return all rows in the order of a field, by distance or along the Z-order; how many come before the nulls."""
        if self.locations is not None and name in (DISTANCE, Z_ORDER):
            order = self.locations.order if name == DISTANCE else self.locations.z_order.order
            return order, self.locations.count
        return self.columns[name].order, self.columns[name].non_null_count

    def find(self, key: str) -> bytes | None:
        """Return the row with an identifier as JSON, or None."""
        column = self.columns[self.key]
        code = None if column.values is None else column.values.find(key)
        row = None if code is None else column.order.item(column.starts.item(code))
        # A copy, so that nothing of an answer that is kept is known to the garbage collector.
        return None if row is None else self.rows.view(row, without=len(ROW_END)).tobytes()

    def bitmap(self, field: str, code: int, order: str) -> Bitmap:
        """Return the bitmap of the rows with a value, by position in an order. Recent ones are cached."""
        bitmap = self._bitmaps.get((field, code, order))
        if bitmap is None:
            spend(len(self) // (COMPARED if order == self.order_by else LOOKED_UP))
            mask = self.columns[field].codes == code
            bitmap = pack(mask if order == self.order_by else mask.take(self.order(order)[0]))
            self._bitmaps.put((field, code, order), bitmap, bitmap.nbytes)
        return bitmap

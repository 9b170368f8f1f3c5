"""Rows as JSON: with their distance, or some members only, if the query says so."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from service.engine.columns.column import Rows
from service.engine.columns.row_budget import spend
from service.engine.geography.locations import Locations
from service.engine.table import Table
from service.model.query import Query
from service.model.records import ATTRIBUTES, DISTANCE, PREFIX

# A decoder is a class of its own, which only the garbage collector can free: thousands of them took it 60 ms. So the
# first combinations of members keep theirs; the others are decoded as dictionaries, in about four times as long.
_MAX_DECODERS: Final = 256
# To decode so many bytes takes as long as to look at a row.
DECODED_BYTES: Final = 8
_ABSENT: Final = Raw(b"null")  # what it means to a reader; it is omitted when it is written
_ENCODE: Final = msgspec.json.Encoder().encode
_ENCODE_LINES: Final = msgspec.json.Encoder().encode_lines
_DECODE: Final = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_DECODE_ATTRIBUTES: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decoders: Final[dict[tuple[str, ...], Callable[[bytes], list[Any]]]] = {}


def project(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[bytes]:
    """Return rows with some members only, as one chunk; `rows` concatenate to a list body, as does the result."""
    return [_ENCODE(_records(rows, names))[1:-1]]


def project_lines(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> bytes:
    """Return rows, which concatenate to a list body, with some members only, each followed by LF."""
    return _ENCODE_LINES(_records(rows, names))


def _records(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    if names in _decoders or len(_decoders) < _MAX_DECODERS:
        return decode_rows(rows, names)
    spend(sum(map(len, rows)) // DECODED_BYTES)
    records = _DECODE(b"".join((b"[", *rows, b"]")))
    return [_some_members(record, names) for record in records]


def _some_members(record: dict[str, Raw], names: tuple[str, ...]) -> dict[str, object]:
    chosen: dict[str, object] = {name: record[name] for name in names if name in record}
    parts = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    if parts:
        attributes = _DECODE_ATTRIBUTES(record[ATTRIBUTES])
        chosen[ATTRIBUTES] = {name: attributes[name] for name in parts}
        if DISTANCE in chosen:
            chosen[DISTANCE] = chosen.pop(DISTANCE)
    return chosen


def decode_rows(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    """Return rows as structs of some members, each as encoded."""
    spend(sum(map(len, rows)) // DECODED_BYTES)
    return decode_within_budget(rows, names)


def decode_within_budget(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    """Return rows as structs of some members, each as encoded; the caller has spent the budget for decoding."""
    decoder = _decoders.get(names)
    if decoder is None:
        parts = [(name.removeprefix(PREFIX), Raw) for name in names if name.startswith(PREFIX)]
        attributes = msgspec.defstruct("Attributes", parts, gc=False) if parts else Raw
        shown = dict.fromkeys(ATTRIBUTES if name.startswith(PREFIX) else name for name in names)
        members = [(name, attributes, None) if name == ATTRIBUTES else (name, Raw, _ABSENT) for name in shown]
        row = msgspec.defstruct("Row", members, omit_defaults=True, gc=False)
        decoder = _decoders[names] = msgspec.json.Decoder(list[row]).decode  # type: ignore[valid-type]
    return decoder(b"".join((b"[", *rows, b"]")))


Distances = Sequence[float | None]
LINE_END: Final = b"\n"


def shows_distances(query: Query) -> bool:
    """Return whether the rows that answer a query have their distances."""
    return bool(query.near) and (not query.fields or DISTANCE in query.fields)


def distances(table: Table, query: Query, rows: Rows) -> Distances | None:
    """Return the distance of each row, None if the query does not want them."""
    if not query.near or table.locations is None or (query.fields and DISTANCE not in query.fields):
        return None
    return table.locations.distances(query.near, rows)


def json_list(table: Table, query: Query, rows: Rows, metres: Distances | None) -> Sequence[bytes | memoryview]:
    """Return rows as chunks of JSON that concatenate to a list body; `metres` are their distances, if wanted."""
    chunks = table.json(rows) if metres is None else table.json_with_distances(rows, metres)
    return project(chunks, query.fields) if query.fields else chunks


def json_lines(table: Table, query: Query, rows: Rows, metres: Distances | None) -> bytes | memoryview:
    """Return rows as JSON, each followed by LF; no row has one."""
    if query.fields:
        whole = msgspec.structs.replace(query, fields=UNSET)
        return project_lines(json_list(table, whole, rows, metres), query.fields)
    if metres is None:
        return table.rows.lines(rows)
    return b"".join((*table.json_with_distances(rows, metres, LINE_END), LINE_END))


_FEATURE: Final = b'{"type":"Feature","id":%b,"geometry":%b,"properties":%b}'
_POINT: Final = b'{"type":"Point","coordinates":%b}'
_NOWHERE: Final = b"null"


def features(table: Table, query: Query, rows: Rows, metres: Distances | None) -> bytes:
    """Return rows as features that are separated by commas: whatever members are asked for, each has its geometry."""
    if table.locations is None or not len(rows):
        return b""
    identifiers = map(attrgetter(table.key), decode_rows(table.json(rows), (table.key,)))
    properties = bytes(json_lines(table, query, rows, metres)).split(LINE_END)[:-1]
    geometries = _geometries(table.locations, rows)
    return b",".join(map(_FEATURE.__mod__, zip(map(bytes, identifiers), geometries, properties, strict=True)))


def encoded(values: list[Any]) -> list[bytes]:
    """Return the JSON of each value. To encode all at once is several times as fast as one by one.

    The values are a list: msgspec 0.22 never frees another iterable.
    """
    return _ENCODE_LINES(values).split(LINE_END)[:-1]


def _geometries(locations: Locations, rows: Rows) -> Sequence[bytes]:
    positions = locations.positions.take(rows)
    located = (positions < locations.count).nonzero()[0]
    there = positions.take(located)
    points = zip(locations.longitudes.take(there).tolist(), locations.latitudes.take(there).tolist(), strict=True)
    geometries = [_NOWHERE] * len(rows)
    for index, point in zip(located.tolist(), encoded(list(points)), strict=True):
        geometries[index] = _POINT % point
    return geometries

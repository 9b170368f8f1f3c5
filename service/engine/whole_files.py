"""Files of all rows that answer a query, piece by piece: CSV, lines of JSON, GeoJSON."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from service.engine.ordered_rows import batches
from service.engine.row_csv import header, lines
from service.engine.row_features import features
from service.engine.row_json import distances, json_lines, shows_distances
from service.engine.selection import Selection
from service.engine.table import Table
from service.model.features import CLOSING, OPENING
from service.model.query import Query
from service.model.records import ATTRIBUTES, DISTANCE, Resource

Pieces = Iterator[bytes | memoryview]
# Writes the rows of an order, all that answer a query.
Write = Callable[[Resource, Table, Query, Selection], Pieces]

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def column_names(resource: Resource, query: Query) -> tuple[str, ...]:
    """Return the names of all members that the records of an answer may have, in order."""
    if not query.fields:
        return (*resource.columns, *((DISTANCE,) if shows_distances(query) else ()))
    attributes = [field.name for field in resource.attributes]
    return tuple(name for each in query.fields for name in (attributes if each == ATTRIBUTES else [each]))


def _csv(resource: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    names = column_names(resource, query)
    yield (_BYTE_ORDER_MARK if query.bom else b"") + header(names)
    for rows in batches(table, query, order):
        yield lines(table, resource, names, rows, distances(table, query, rows))


def _ndjson(_: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    for rows in batches(table, query, order):
        yield json_lines(table, query, rows, distances(table, query, rows))


def _geojson(_: Resource, table: Table, query: Query, order: Selection) -> Pieces:
    separator = OPENING
    for rows in batches(table, query, order):
        yield separator + features(table, query, rows, distances(table, query, rows))
        separator = b","
    yield CLOSING if separator == b"," else OPENING + CLOSING


# The ending of the name of a file -> what writes it.
WRITERS: Final[Mapping[str, Write]] = {"csv": _csv, "ndjson": _ndjson, "geojson": _geojson}

"""Parquet files of all records, of stores GeoParquet 1.1, through pyarrow, which has no types."""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from service.engine.column import Rows
from service.engine.locations import Locations
from service.engine.ordered_rows import batches
from service.engine.row_csv import decoder
from service.engine.row_json import distances
from service.engine.selection import Selection
from service.engine.table import Table
from service.engine.whole_files import column_names
from service.model.kinds import FLAG
from service.model.query import Query
from service.model.records import DISTANCE, Resource

_GEOMETRY: Final = "geometry"
_NUMBER: Final = "number"  # an attribute
_METADATA: Final = {
    "version": "1.1.0",
    "primary_column": _GEOMETRY,
    "columns": {_GEOMETRY: {"encoding": "WKB", "geometry_types": ["Point"]}},
}
# A point in well-known binary: the byte order, the type, longitude and latitude.
_POINT: Final = struct.Struct("<BIdd")
_LITTLE_ENDIAN: Final = 1
_POINT_TYPE: Final = 1
# The batches of a row group: about 65,000 rows.
_BATCHES: Final = 128


def write_parquet(resource: Resource, table: Table, query: Query, order: Selection, target: BinaryIO) -> None:
    """Write the rows of an order, all that answer a query."""
    schema, parts = _schema(resource, query), batches(table, query, order)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        while group := list(_record_batches(resource, table, query, schema, islice(parts, _BATCHES))):
            writer.write_table(pa.Table.from_batches(group))


def _schema(resource: Resource, query: Query) -> Any:
    fields = [pa.field(name, _type(resource, name)) for name in column_names(resource, query)]
    if resource.coordinates is None:
        return pa.schema(fields)
    return pa.schema([*fields, pa.field(_GEOMETRY, pa.binary())], {"geo": msgspec.json.encode(_METADATA)})


def _type(resource: Resource, name: str) -> Any:
    if name == DISTANCE:
        return pa.float64()
    field = resource.field(name)
    if field.is_list:
        return pa.list_(pa.string())
    if field.attribute == _NUMBER:
        return pa.float64()
    return pa.bool_() if field.kind is FLAG else pa.string()


def _record_batches(
    resource: Resource, table: Table, query: Query, schema: Any, parts: Iterator[Rows]
) -> Iterator[Any]:
    for rows in parts:
        columns: dict[str, Any] = dict(decoder(resource)(b"".join((b"[", *table.json(rows), b"]"))))
        for field in resource.attributes:
            if field.attribute == _NUMBER:
                columns[field.name] = [msgspec.json.decode(each, type=float | None) for each in columns[field.name]]
        columns[DISTANCE] = distances(table, query, rows)
        if table.locations is not None:
            columns[_GEOMETRY] = _points(table.locations, rows)
        yield pa.record_batch([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _points(locations: Locations, rows: Rows) -> list[bytes | None]:
    points: list[bytes | None] = []
    for place in locations.places.take(rows).tolist():
        located = place < locations.count
        point = (locations.longitudes[place], locations.latitudes[place]) if located else ()
        points.append(_POINT.pack(_LITTLE_ENDIAN, _POINT_TYPE, *point) if located else None)
    return points

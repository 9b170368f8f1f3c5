"""Parquet files of all records, of stores GeoParquet 1.1, through pyarrow, which has no types."""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from service.engine.columns.column import Rows
from service.engine.columns.selection import Selection
from service.engine.geography.locations import Locations
from service.engine.results import column_names
from service.engine.row_csv import decoder
from service.engine.row_json import distances
from service.engine.select import batches
from service.engine.table import Table
from service.model.kinds import DATE, FLAG, INSTANT
from service.model.query import Query
from service.model.records import DISTANCE, Resource

_GEOMETRY: Final = "geometry"
_BOX: Final = "bbox"
_SIDES: Final = ("xmin", "ymin", "xmax", "ymax")
_NUMBER, _HOURS = "number", "hours"  # attributes whose values are decoded from JSON, or written as it
# By the kind of a field; others are texts.
_TYPES: Final = {FLAG.name: pa.bool_(), INSTANT.name: pa.timestamp("us", "UTC"), DATE.name: pa.date32()}
# A point in well-known binary: the byte order, the type, longitude and latitude.
_POINT: Final = struct.Struct("<BIdd")
_LITTLE_ENDIAN: Final = 1
_POINT_TYPE: Final = 1
# The batches of a row group: about 65,000 rows.
_BATCHES: Final = 128


def write_parquet(resource: Resource, table: Table, query: Query, order: Selection, target: BinaryIO) -> None:
    """Write the rows of an order, all that answer a query."""
    bounds = _bounds(table.locations, batches(table, query, order)) if table.locations else []
    schema, parts = _schema(resource, query, bounds), batches(table, query, order)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        while group := list(_record_batches(resource, table, query, schema, islice(parts, _BATCHES))):
            writer.write_table(pa.Table.from_batches(group))


def _bounds(locations: Locations, parts: Iterator[Rows]) -> list[float]:
    """Return west, south, east and north of the rows that have a location; nothing if none has one."""
    located = np.zeros(len(locations.positions), np.bool_)
    for rows in parts:
        located[locations.positions.take(rows)] = True
    located = located[: locations.count]
    longitudes, latitudes = locations.longitudes[located], locations.latitudes[located]
    if not len(longitudes):
        return []
    return [float(each) for each in (longitudes.min(), latitudes.min(), longitudes.max(), latitudes.max())]


def _schema(resource: Resource, query: Query, bounds: list[float]) -> Any:
    fields = [pa.field(name, _type(resource, name)) for name in column_names(resource, query)]
    if resource.coordinates is None:
        return pa.schema(fields)
    box = pa.struct([(side, pa.float64()) for side in _SIDES])
    geometry = {
        "encoding": "WKB",  # without a reference system, which is OGC:CRS84
        "geometry_types": ["Point"],
        "covering": {_BOX: {side: [_BOX, side] for side in _SIDES}},
        **({"bbox": bounds} if bounds else {}),
    }
    geo = {"version": "1.1.0", "primary_column": _GEOMETRY, "columns": {_GEOMETRY: geometry}}
    return pa.schema(
        [*fields, pa.field(_GEOMETRY, pa.binary()), pa.field(_BOX, box)], {"geo": msgspec.json.encode(geo)}
    )


def _type(resource: Resource, name: str) -> Any:
    if name == DISTANCE:
        return pa.float64()
    field = resource.field(name)
    if field.is_list:
        return pa.list_(pa.string())
    return pa.float64() if field.attribute == _NUMBER else _TYPES.get(field.kind.name, pa.string())


def _record_batches(
    resource: Resource, table: Table, query: Query, schema: Any, parts: Iterator[Rows]
) -> Iterator[Any]:
    for rows in parts:
        columns: dict[str, Any] = dict(decoder(resource)(b"".join((b"[", *table.json(rows), b"]"))))
        for field in resource.attributes:
            if field.attribute == _NUMBER:
                columns[field.name] = [msgspec.json.decode(each, type=float | None) for each in columns[field.name]]
            elif field.attribute == _HOURS:
                texts = [bytes(each).decode() for each in columns[field.name]]
                columns[field.name] = [None if text == "null" else text for text in texts]
        columns[DISTANCE] = distances(table, query, rows)
        if table.locations is not None:
            points = _points(table.locations, rows)
            columns[_GEOMETRY] = [each and _POINT.pack(_LITTLE_ENDIAN, _POINT_TYPE, *each) for each in points]
            columns[_BOX] = [each and dict(zip(_SIDES, each * 2, strict=True)) for each in points]
        yield pa.record_batch([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _array(values: Any, kind: Any) -> Any:
    """Return values of a type; of dates and times, from the texts that are served."""
    return pa.array(values, pa.string()).cast(kind) if pa.types.is_temporal(kind) else pa.array(values, kind)


def _points(locations: Locations, rows: Rows) -> list[tuple[float, float] | None]:
    """Return the longitude and latitude of rows, None without a location."""
    return [
        (locations.longitudes[position], locations.latitudes[position]) if position < locations.count else None
        for position in locations.positions.take(rows).tolist()
    ]

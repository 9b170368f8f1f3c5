"""Read the records of a file whose columns have the names of the fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.diagnostics import FileError
from service.reading.geometry import LATITUDE, LONGITUDE
from service.reading.record_file import RecordFile

_OF_GEOMETRY = {"latitude": LATITUDE, "longitude": LONGITUDE}


def columns_by_name(names: Sequence[str], resource: Resource) -> dict[str, str]:
    """Return the column of each field that has one: that of its name, or where the geometry is."""
    found = {field.name: field.name for field in resource.fields if field.name in names}
    if resource.coordinates and found.keys().isdisjoint(resource.coordinates):
        found |= {field: _OF_GEOMETRY[field] for field in resource.coordinates if _OF_GEOMETRY[field] in names}
    return found


def by_name(open_file: Callable[[bytes], RecordFile]) -> Callable[[bytes, Resource], Iterator[Batch]]:
    """Return the reader of a format by its names; it raises FileError."""

    def read(content: bytes, resource: Resource) -> Iterator[Batch]:
        file = open_file(content)
        columns = columns_by_name(file.names, resource)
        if missing := [field.name for field in resource.fields if field.required and field.name not in columns]:
            raise FileError(f"missing columns: {', '.join(missing)}")
        for batch in file.batches(list(dict.fromkeys(columns.values()))):
            yield msgspec.structs.replace(batch, columns=_fields(batch, columns, resource))

    return read


def _fields(batch: Batch, columns: Mapping[str, str], resource: Resource) -> dict[str, Sequence[object]]:
    empty = (None,) * len(batch.numbers)
    names = [field.name for field in resource.fields]
    return {name: batch.columns[columns[name]] if name in columns else empty for name in names}

"""Parquet through pyarrow, which has no types: of reading, only this imports it. As a program: see `isolation.py`.

Columns are read as Arrow arrays; paths lead to the members of nested ones. Their values become cells.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from itertools import takewhile
from math import isnan
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import UNSET, UnsetType

from service.reading.batch import BATCH_SIZE, WrongType
from service.reading.diagnostics import FileError
from service.reading.formats.geometry import LATITUDE, LONGITUDE, check_reference, locate
from service.reading.formats.json_file import INDEX, heads
from service.reading.formats.json_text import check_depth
from service.reading.formats.parquet_file import UNREADABLE, ColumnRequest, Opened, RowBatch
from service.reading.isolation import run
from service.texts import repeated, truncate

Cell: TypeAlias = str | bool | WrongType | None
_PLAIN: Final = (pa.StringArray, pa.LargeStringArray, pa.StringViewArray, pa.BooleanArray, pa.NullArray)
_FLOATS: Final[Mapping[int, Callable[[float], str]]] = {
    16: lambda number: str(np.float16(number)),
    32: lambda number: str(np.float32(number)),
    64: repr,
}
_GEO: Final = b"geo"  # the key of the metadata of GeoParquet
_GEOMETRY: Final = "geometry"  # the name of the column without them
_ERRORS: Final = (pa.ArrowException, MemoryError, OSError, ValueError, OverflowError, RecursionError)
_ENCODINGS: Final = ("WKB", "point")
MAX_RECORDS: Final = 2**20  # in a file with fewer bytes than records; columns of one value take no space
_TOO_MUCH_MEMORY: Final = f"{UNREADABLE}: it takes too much memory"
_Step: TypeAlias = str | Callable[[Any], Any]  # the name of a member of a struct, or what makes an array of another


def cells_of(array: Any) -> list[Cell]:
    """Return the values of an array as cells; numbers are exact."""
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        return cells_of(array.dictionary_decode())
    if types.is_timestamp(kind):
        return _instants(array)
    if types.is_integer(kind) or types.is_date(kind) or types.is_time(kind):
        array = pc.cast(array, pa.string())
    cells: list[Any] = array.to_pylist()
    if types.is_floating(kind):
        return [None if cell is None or isnan(cell) else _FLOATS[kind.bit_width](cell) for cell in cells]
    if types.is_decimal(kind):
        return [None if cell is None else format(cell, "f") for cell in cells]
    if isinstance(array, _PLAIN):
        return cells
    return [str(cell) if isinstance(cell, UUID) else None if cell is None else wrong_type(cell) for cell in cells]


def wrong_type(value: Any) -> WrongType:
    """Return a value as JSON, as a binary one in hexadecimal digits."""
    return WrongType(msgspec.json.encode(_json(value), enc_hook=str).decode())


def _is_list(kind: Any) -> bool:
    return isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType)


def _instants(array: Any) -> list[Cell]:
    """Return timestamps as RFC 3339: in UTC if they are instants, without an offset if they are local."""
    if array.type.tz is not None:
        array = pc.cast(array, pa.timestamp(array.type.unit, "UTC"))
    cells: list[Cell] = pc.replace_substring(pc.cast(array, pa.string()), " ", "T").to_pylist()
    return cells


def _json(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex()
        case dict():
            return {str(name): _json(each) for name, each in value.items()}
        case list() | tuple():
            return [_json(each) for each in value]
    return value


class _GeoColumn(msgspec.Struct):
    encoding: str
    crs: dict[str, Any] | UnsetType | None = UNSET


class _GeoMetadata(msgspec.Struct):
    primary_column: str
    columns: dict[str, _GeoColumn]


class ArrowFile:
    """An opened Parquet file, and what is in it."""

    def __init__(self, content: bytes) -> None:
        with _file_errors():
            self._file = pq.ParquetFile(pa.BufferReader(content))
            self._schema, metadata = self._file.schema_arrow, self._file.metadata
            records = sum(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))
            paths = {path: field.name for field in self._schema for path in _paths(field.name, field.type)}
        if duplicates := repeated(self._schema.names):
            raise FileError(f"duplicate columns: {', '.join(map(repr, duplicates))}")
        if records > max(MAX_RECORDS, len(content)):
            raise FileError(f"{records:,} records are more than the file has bytes")
        geometry = _geometry_column(metadata.metadata or {}, self._schema)
        self._located = {} if geometry is None else dict.fromkeys((LATITUDE, LONGITUDE), geometry)
        others = {path: column for path, column in paths.items() if column != geometry}
        self.opened = Opened(others | self._located, records)

    def parts(self, request: ColumnRequest) -> Iterator[RowBatch]:
        """Yield all records, with the cells at the requested paths, None if a path does not exist. Raises FileError."""
        schema, located = pa.struct(list(self._schema)), {path: [column] for path, column in self._located.items()}
        sources = {path: steps for path in request.columns if (steps := located.get(path) or _steps(schema, path))}
        members = (takewhile(lambda step: isinstance(step, str), steps) for steps in sources.values())
        selected = list(dict.fromkeys(map(".".join, members)))  # type: ignore[arg-type]
        with _file_errors():
            for batch in self._file.iter_batches(BATCH_SIZE, columns=selected, use_threads=False):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                empty: list[Cell] = [None] * batch.num_rows
                places = self._located.keys() & sources.keys()
                found = list(map(_location, columns[self._located[LATITUDE]].to_pylist())) if places else []
                cells = {path: [each[path == LONGITUDE] for each in found] for path in places}
                for path, (first, *steps) in sources.items():
                    cells[path] = cells.get(path) or cells_of(reduce(_take, steps, columns[first]))
                yield RowBatch(batch.num_rows, [cells.get(path, empty) for path in request.columns])


@contextmanager
def _file_errors() -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        why = truncate(str(error).partition("\n")[0].strip() or type(error).__name__)
        raise FileError(_TOO_MUCH_MEMORY if isinstance(error, MemoryError) else f"{UNREADABLE}: {why}") from None


def _geometry_column(metadata: Mapping[bytes, bytes], schema: Any) -> str | None:
    """Return the column with geometries that have a location, as points or in WKB. Raises FileError."""
    if _GEO not in metadata:
        index = schema.get_field_index(_GEOMETRY)
        return _GEOMETRY if index >= 0 and schema.field(index).type in (pa.binary(), pa.large_binary()) else None
    try:
        check_depth([metadata[_GEO]])
        geo = msgspec.json.decode(metadata[_GEO], type=_GeoMetadata)
        column = geo.columns[geo.primary_column]
        reference = _reference(column.crs) if isinstance(column.crs, dict) else None
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError):  # in msgspec 0.20 no ValueError
        raise FileError("the metadata of GeoParquet are not valid") from None
    if reference is not None:
        check_reference(reference)
    return geo.primary_column if column.encoding in _ENCODINGS and geo.primary_column in schema.names else None


def _reference(crs: Mapping[str, Any]) -> str:
    """Return what a coordinate reference system is called, from its PROJJSON."""
    match crs:
        case {"id": {"authority": authority, "code": code}}:
            return f"{authority}:{code}"
    return str(crs.get("name"))


def _location(geometry: Any) -> tuple[Cell, Cell]:
    """Return the latitude and longitude of a geometry, None for null; wrong types if it is not a geometry."""
    try:
        match geometry:
            case bytes():
                return locate(geometry) or (None, None)
            case {"x": float(longitude), "y": float(latitude)}:
                return repr(latitude), repr(longitude)
            case None | {"x": None}:
                return None, None
    except ValueError:
        pass
    wrong = wrong_type(geometry)
    return wrong, wrong


def _paths(name: str, kind: Any) -> Iterator[str]:
    if pa.types.is_struct(kind) and kind.num_fields:
        for index in range(kind.num_fields):
            member = kind.field(index)
            yield from _paths(f"{name}.{member.name}", member.type)
    elif _is_list(kind):
        yield from _paths(f"{name}.0", kind.value_type)
    else:
        yield name


def _steps(kind: Any, path: str) -> list[_Step] | None:
    """Return the steps to the values at a path in values of a type, None if there are none."""
    if not path:
        return []
    if pa.types.is_map(kind):
        look_up = partial(pc.map_lookup, query_key=pa.scalar(path), occurrence="first")
        return [look_up] if pa.types.is_string(kind.key_type) else None
    if _is_list(kind):
        index, _, rest = path.partition(".")
        steps = _steps(kind.value_type, rest) if INDEX.fullmatch(index) else None
        return None if steps is None else [partial(_element, index=int(index)), *steps]
    for name in (path, *heads(path)) if pa.types.is_struct(kind) else ():
        index = kind.get_field_index(name)
        steps = None if index < 0 else _steps(kind.field(index).type, path[len(name) + 1 :])
        if steps is not None:
            return [name, *steps]
    return None


def _take(array: Any, step: _Step) -> Any:
    return pc.struct_field(array, step) if isinstance(step, str) else step(array)


def _element(array: Any, *, index: int) -> Any:
    """Return an element of each list, null of shorter ones."""
    return pc.list_element(pc.list_slice(array, index, index + 1, return_fixed_size_list=True), 0)


if __name__ == "__main__":
    run(ArrowFile, ColumnRequest, _TOO_MUCH_MEMORY)

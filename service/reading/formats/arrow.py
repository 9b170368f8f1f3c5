"""Parquet through pyarrow, which has no types: of reading, only this imports it. As a program: see `isolation.py`.

Columns are read as Arrow arrays; paths lead to the members of nested ones. Their values become cells.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import islice, takewhile
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
from service.reading.text import MAX_RATIO, MAX_SIZE
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
_POINTER: Final = 8  # bytes
_PLAIN_NUMBER, _PRECISE = 10**15, 10**4  # floats from 1 / _PRECISE to _PLAIN_NUMBER have no exponent
_TOO_MUCH_MEMORY: Final = f"{UNREADABLE}: it takes too much memory"
_TOO_LARGE: Final = f"the file expands to more than 64 MiB and {MAX_RATIO} times its size"
Step: TypeAlias = Any  # a function from an array to another; a `_Member` if it is that to a member of a struct


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
    return [_cell(cell) for cell in cells] if not isinstance(array, _PLAIN) else cells


def nested_count(array: Any) -> int:
    """Return how many values are in those of an array, at any depth."""
    if pa.types.is_map(array.type):  # which cannot be flattened itself
        array = array.cast(pa.list_(pa.struct([array.type.key_field, array.type.item_field])))
    if is_list(array.type):
        array = array.flatten()
        return len(array) + nested_count(array)
    fields = array.type.num_fields if pa.types.is_struct(array.type) else 0
    return sum(len(array) + nested_count(array.field(index)) for index in range(fields))


def is_uniform(kind: Any, least: Any, most: Any) -> bool:
    """Return whether all values of a type between two are texts of one kind: numbers have no exponents."""
    types = pa.types
    if types.is_integer(kind) or types.is_floating(kind):
        is_precise = types.is_integer(kind) or max(least, -most) >= 1 / _PRECISE
        return bool(is_precise and max(most, -least) < _PLAIN_NUMBER)
    return bool(types.is_date(kind) or types.is_timestamp(kind) or least == most)


def size_of(cells: Sequence[Cell]) -> int:
    """Return about how many bytes cells take."""
    texts = (cell.text if isinstance(cell, WrongType) else cell for cell in cells)
    return len(cells) + sum(len(text) for text in texts if isinstance(text, str))


def wrong_type(value: Any) -> WrongType:
    """Return a value as JSON, as a binary one in hexadecimal digits."""
    return WrongType(msgspec.json.encode(_json(value), enc_hook=str).decode())


def is_list(kind: Any) -> bool:
    """Return whether the values of an Arrow type are lists."""
    return isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType)


def _cell(value: Any) -> Cell:
    return str(value) if isinstance(value, UUID) else None if value is None else wrong_type(value)


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
        """Open a file. Raises FileError."""
        self._most = max(MAX_SIZE, MAX_RATIO * len(content))
        with _file_errors():
            self._file = pq.ParquetFile(pa.BufferReader(content))
            self._schema, metadata = self._file.schema_arrow, self._file.metadata
            records = sum(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))
            paths = {path: field.name for field in self._schema for path in _paths(field.name, field.type)}
        if duplicates := repeated(self._schema.names):
            raise FileError(f"duplicate columns: {', '.join(map(repr, duplicates))}")
        if records > max(MAX_RECORDS, len(content)):
            raise FileError(f"{records:,} records are more than the file has bytes")
        self._geometry = _geometry_column(metadata.metadata or {}, self._schema)
        if self._geometry is not None:
            paths = {path: column for path, column in paths.items() if column != self._geometry}
            paths |= {LATITUDE: self._geometry, LONGITUDE: self._geometry}
        self.opened = Opened(paths, records)

    def parts(self, request: ColumnRequest) -> Iterator[RowBatch]:
        """Yield all records, with the cells at the requested paths. Raises FileError."""
        sources = {path: steps for path in request.columns if (steps := self._steps(path))}
        batches = self._batches(request.columns, sources)
        for first in islice(batches, 1 if request.is_sample else None):
            yield first
        if request.is_sample and self.opened.records:
            cells = dict(zip(request.columns, first.columns, strict=True))
            others = {path: steps for path, steps in sources.items() if not self._is_settled(path, cells[path])}
            yield from islice(self._batches(request.columns, others), 1, None) if others else ()

    def _batches(self, paths: Sequence[str], sources: Mapping[str, Sequence[Step]]) -> Iterator[RowBatch]:
        """Yield all records, with the cells at some paths, None at those without sources."""
        selected, size = list(dict.fromkeys(map(_selected, sources.values()))), 0
        with _file_errors():
            for batch in self._file.iter_batches(BATCH_SIZE, columns=selected, use_threads=False):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                empty: list[Cell] = [None] * batch.num_rows
                cells = self._locations(columns, sources)
                for path, steps in sources.items():
                    array = reduce(lambda array, step: step(array), steps[1:], columns[steps[0].name])
                    cells[path] = cells.get(path) or self._cells(array)
                found = [cells.get(path, empty) for path in paths]
                size += sum(map(size_of, found))
                self._check_size(size)
                yield RowBatch(batch.num_rows, found)

    def _is_settled(self, path: str, cells: Sequence[Cell]) -> bool:
        """Return whether type and statistics of a column say that all cells are of the kind of the first ones."""
        with _file_errors():
            metadata, schema = self._file.metadata, self._file.schema
            columns = [schema.column(at).path for at in range(len(schema.names))]
            if path not in self._schema.names or path not in columns:  # it is a member, or nested
                return False
            rows = map(metadata.row_group, range(metadata.num_row_groups))
            groups = [group.column(columns.index(path)).statistics for group in rows]
            if any(each is None or not each.has_null_count for each in groups):
                return False
            filled = [each for each in groups if each.num_values]
            if not filled or all(cell is None for cell in cells) or not all(each.has_min_max for each in filled):
                return not filled
            least, most = min(each.min for each in filled), max(each.max for each in filled)
            return is_uniform(self._schema.field(path).type, least, most)

    def _cells(self, array: Any) -> list[Cell]:
        self._check_size(_POINTER * nested_count(array))  # before they become objects
        return cells_of(array)

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise FileError(_TOO_LARGE)

    def _steps(self, path: str) -> Sequence[Step] | None:
        if self._geometry is not None and path in (LATITUDE, LONGITUDE):
            return [_Member(self._geometry)]
        return _steps(pa.struct(list(self._schema)), path)

    def _locations(self, columns: Mapping[str, Any], sources: Mapping[str, Sequence[Step]]) -> dict[str, list[Cell]]:
        """Return the cells of latitude and longitude, if they are read."""
        if self._geometry is None or sources.keys().isdisjoint((LATITUDE, LONGITUDE)):
            return {}
        found = list(map(_location, columns[self._geometry].to_pylist()))
        return {LATITUDE: [latitude for latitude, _ in found], LONGITUDE: [longitude for _, longitude in found]}


class _Member(msgspec.Struct, frozen=True):
    """The step to a member of a struct."""

    name: str

    def __call__(self, array: Any) -> Any:
        return pc.struct_field(array, self.name)


@contextmanager
def _file_errors() -> Iterator[None]:
    """Raise FileError for the errors of pyarrow."""
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
    elif is_list(kind):
        yield from _paths(f"{name}.0", kind.value_type)
    else:
        yield name


def _steps(kind: Any, path: str) -> list[Step] | None:
    """Return the steps to the values at a path in values of a type, None if there are none."""
    if not path:
        return []
    if pa.types.is_map(kind):
        return [partial(_look_up, key=path)] if pa.types.is_string(kind.key_type) else None
    if is_list(kind):
        index, _, rest = path.partition(".")
        steps = _steps(kind.value_type, rest) if INDEX.fullmatch(index) else None
        return None if steps is None else [partial(_element, index=int(index)), *steps]
    for name in (path, *heads(path)) if pa.types.is_struct(kind) else ():
        index = kind.get_field_index(name)
        steps = None if index < 0 else _steps(kind.field(index).type, path[len(name) + 1 :])
        if steps is not None:
            return [_Member(name), *steps]
    return None


def _selected(steps: Sequence[Step]) -> str:
    """Return the path of the members of structs, up to the first list."""
    return ".".join(step.name for step in takewhile(lambda step: isinstance(step, _Member), steps))


def _element(array: Any, *, index: int) -> Any:
    """Return an element of each list, null of shorter ones."""
    return pc.list_element(pc.list_slice(array, index, index + 1, return_fixed_size_list=True), 0)


def _look_up(array: Any, *, key: str) -> Any:
    return pc.map_lookup(array, pa.scalar(key), "first")


if __name__ == "__main__":
    run(ArrowFile, ColumnRequest, _TOO_MUCH_MEMORY)

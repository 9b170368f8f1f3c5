"""The values of Arrow arrays as cells: texts, flags, none, or a wrong type for nested and binary values."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.reading.batches.batch import WrongType

Cell: TypeAlias = str | bool | WrongType | None
_PLAIN: Final = (pa.StringArray, pa.LargeStringArray, pa.StringViewArray, pa.BooleanArray, pa.NullArray)
_FLOATS: Final[Mapping[int, Callable[[float], str]]] = {
    16: lambda number: str(np.float16(number)),
    32: lambda number: str(np.float32(number)),
    64: repr,
}


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

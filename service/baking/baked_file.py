"""Convert a data set to the arrays of a baked file, and back."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from service import __version__
from service.background import Progress, silent
from service.baking.characters import Characters, UnicodeTables
from service.baking.layout import Array, Checksums, DamagedFile, map_file, write_file
from service.baking.validation import check_table
from service.dataset import Dataset, Rejected, Totals
from service.engine.columns.column import Column, StringArray
from service.engine.columns.ranking import ListTexts
from service.engine.columns.selection import word_count
from service.engine.geography.locations import DIMENSIONS, Locations
from service.engine.geography.z_order import ZOrder
from service.engine.table import Table
from service.engine.text_index import DenseWords, TextIndex
from service.files import Signature
from service.model.attributes import Declaration, Schema, schema_of
from service.model.kinds import format_instant, parse_instant
from service.model.records import COMPANIES, CREATED_AT, STORES, Resource
from service.texts import truncate

FORMAT: Final = "store-directory 6"
_VERSION: Final = re.compile("[0-9a-f]{16}")
# Parts of columns that are 0, 1, 2, …, if they are long, are stored once: each is the beginning of this array.
_NUMBERS: Final = "numbers"
_LEAST_NUMBERED: Final = 1024
_CODES: Final = "codes"
_COLUMN_PARTS: Final = (_CODES, "order", "starts")
_LOCATION_TYPES: Final[dict[str, type[np.number[Any]]]] = {
    "order": np.int32,
    "places": np.int32,
    "cells": np.uint32,
    "latitudes": np.float64,
    "longitudes": np.float64,
    "vectors": np.float64,
}
_Z_ORDER_TYPES: Final[dict[str, type[np.number[Any]]]] = {
    "order": np.int32,
    "places": np.int32,
    "codes": np.uint64,
    "zooms": np.uint8,
    "latitudes": np.int32,
    "longitudes": np.int32,
}
_LIST_TYPES: Final[dict[str, type[np.number[Any]]]] = {
    "offsets": np.int64,
    "texts": np.int32,
    "starts": np.int64,
    "lists": np.int32,
}
_DENSE_TYPES: Final[dict[str, type[np.number[Any]]]] = {"numbers": np.int32, "counts": np.int32, "bitmaps": np.uint64}
_CHARACTER_PARTS: Final = Characters.__struct_fields__


class _Metadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The metadata of a baked file; every value is written as a text.

    format        of the file
    version       of the data set
    totals        the JSON in the output of `check --json`
    generated_at  the time of the data; "" if it is not known
    as_of         the day that closing dates were compared with; absent if there are none
    attributes    the JSON of what the mapping declares; absent if it declares none
    numbered      the JSON of the lengths of the arrays that are the beginning of `numbers`, by name; absent if none is
    """

    format: str
    version: str
    totals: str
    generated_at: str = ""
    as_of: date | None = None
    attributes: str | None = None
    numbered: str | None = None


def write_baked(dataset: Dataset, path: Path, *, durable: bool = True, tables: UnicodeTables = unicodedata) -> None:
    """Write a data set, whose keys were folded with `tables`, to one file: the same data gives the same bytes.

    Raises OSError and leaves no file behind.
    """
    arrays = dict(_table_arrays(STORES, dataset.stores)) | dict(_table_arrays(COMPANIES, dataset.companies))
    declaration = dataset.schema.declaration
    texts = [strings.data for each in (dataset.stores, dataset.companies) for strings in (each.rows, each.text.words)]
    characters = Characters.of(texts, tables)
    arrays |= {f"characters/{part}": getattr(characters, part) for part in _CHARACTER_PARTS}
    numbered = {name: len(array) for name, array in arrays.items() if _is_numbered(name, array)}
    if numbered:
        arrays = {name: array for name, array in arrays.items() if name not in numbered}
        arrays[_NUMBERS] = np.arange(max(numbered.values()), dtype=np.int32)
    metadata = _Metadata(
        format=FORMAT,
        version=dataset.version,
        totals=msgspec.json.encode(dataset.totals).decode(),
        generated_at="" if dataset.generated_at is None else format_instant(dataset.generated_at),
        as_of=dataset.as_of,
        attributes=msgspec.json.encode(declaration).decode() if declaration.digest else None,
        numbered=msgspec.json.encode(numbered, order="sorted").decode() if numbered else None,
    )
    known = {name: text for name, text in msgspec.to_builtins(metadata).items() if text is not None}
    write_file(path, arrays, known, durable=durable)


def load_baked(path: Path, *, checked: bool = False, signature: Signature | None = None) -> Dataset:
    """Map a baked data set and check every byte of it, unless it was `checked` before; see `read_baked`.

    Raises `Rejected`.
    """
    try:
        return read_baked(path, checked=checked, signature=signature)
    except DamagedFile as damage:
        why = f"{damage}; {damage.remedy}"
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}"
    raise Rejected(f"{path}: {why}")


def read_baked(  # noqa: PLR0913 - what is known of the file, then how it is read
    path: Path,
    *,
    checked: bool = False,
    copied: Checksums | None = None,
    signature: Signature | None = None,
    tables: UnicodeTables = unicodedata,
    progress: Progress = silent,
) -> Dataset:
    """Map a baked data set; check every byte of it unless it was `checked` before. Raises DamagedFile or OSError.

    `copied` are the checksums of the arrays if they were computed while the file was copied, `signature` is that of the
    file if another may have its place by now; `tables` are the Unicode tables that fold the values in requests.
    """
    content = map_file(path, checked=checked, copied=copied, signature=signature, progress=progress)
    metadata, totals, schema = _read_metadata(content.metadata)
    arrays = _with_numbered(content.arrays, metadata)
    Characters(*(_take(f"characters/{part}", arrays, np.uint32) for part in _CHARACTER_PARTS)).check(tables)
    stores, companies = (_table(resource, arrays) for resource in (schema.stores, schema.companies))
    if arrays:
        raise DamagedFile(f"unknown array {min(arrays)}")
    if (len(stores), len(companies)) != (totals.stores, totals.companies):
        raise DamagedFile("the lengths of the tables do not match the metadata")
    if not checked:
        check_table(schema.stores, stores, progress)
        check_table(schema.companies, companies, progress)
    generated_at = parse_instant(metadata.generated_at) if metadata.generated_at else None
    return Dataset(stores, companies, generated_at, metadata.version, totals, metadata.as_of, schema)


def _read_metadata(texts: Mapping[str, str]) -> tuple[_Metadata, Totals, Schema]:
    if (found := texts.get("format")) != FORMAT:
        which = "no format" if found is None else f"the format {truncate(repr(found))}"
        why = f"the file has {which}, store-directory {__version__} reads {FORMAT!r}"
        raise DamagedFile(why, remedy="bake it with this version, or run the version that baked it")
    try:
        metadata = msgspec.convert(texts, _Metadata)
        totals = msgspec.json.decode(metadata.totals, type=Totals)
        schema = schema_of(msgspec.json.decode(metadata.attributes or "{}", type=Declaration))
    except msgspec.DecodeError as error:
        raise DamagedFile(f"the metadata is invalid: {error}") from None
    if _VERSION.fullmatch(metadata.version) is None:
        raise DamagedFile("the metadata is invalid: the version is not 16 hexadecimal digits")
    if metadata.generated_at and parse_instant(metadata.generated_at) is None:
        raise DamagedFile("the metadata is invalid: generated_at is not a date-time")
    return metadata, totals, schema


def _is_numbered(name: str, array: Array) -> bool:
    """Return whether an array is a long part of a column that is 0, 1, 2, … in 32 bits."""
    if not name.endswith(_COLUMN_PARTS) or array.itemsize != np.int32().itemsize or len(array) < _LEAST_NUMBERED:
        return False
    return int(array[-1]) == len(array) - 1 and np.array_equal(array, np.arange(len(array)))


def _with_numbered(stored: Mapping[str, Array], metadata: _Metadata) -> dict[str, Array]:
    """Return the arrays of a file, and those that are the beginning of its numbers."""
    arrays = dict(stored)
    if metadata.numbered is None:
        return arrays
    try:
        numbered = msgspec.json.decode(metadata.numbered, type=dict[str, Annotated[int, msgspec.Meta(ge=0)]])
    except msgspec.DecodeError as error:
        raise DamagedFile(f"the metadata is invalid: {error}") from None
    numbers = _take(_NUMBERS, arrays, np.int32)
    for name, length in numbered.items():
        if name in arrays or length > len(numbers):
            raise DamagedFile(f"the metadata is invalid: {name} is not the beginning of the numbers")
        arrays[name] = numbers[:length].view(np.uint32 if name.endswith(_CODES) else np.int32)
    return arrays


def _table_arrays(resource: Resource, table: Table) -> Iterator[tuple[str, Array]]:
    yield from _string_arrays(f"{resource.name}/rows", table.rows)
    yield from _text_arrays(resource, table.text)
    for field, column in table.columns.items():
        name = f"{resource.name}/{field}"
        yield from ((f"{name}/{part}", getattr(column, part)) for part in _COLUMN_PARTS)
        if column.values is not None:
            yield from _string_arrays(f"{name}/values", column.values)
    for field, texts in table.lists.items():
        name = f"{resource.name}/{field}/texts"
        yield from _string_arrays(f"{name}/keys", texts.keys)
        yield from ((f"{name}/{part}", getattr(texts, part)) for part in _LIST_TYPES)
    if (locations := table.locations) is not None:
        yield from ((f"{resource.name}/locations/{part}", getattr(locations, part)) for part in _LOCATION_TYPES)
        z_order = locations.z_order
        yield from ((f"{resource.name}/z_order/{part}", getattr(z_order, part)) for part in _Z_ORDER_TYPES)


def _text_arrays(resource: Resource, text: TextIndex) -> Iterator[tuple[str, Array]]:
    yield from _string_arrays(f"{resource.name}/text/words", text.words)
    yield f"{resource.name}/text/starts", text.starts
    yield f"{resource.name}/text/postings", text.postings
    yield from ((f"{resource.name}/text/dense/{part}", getattr(text.dense, part)) for part in _DENSE_TYPES)


def _string_arrays(name: str, strings: StringArray) -> Iterator[tuple[str, Array]]:
    yield f"{name}/data", np.frombuffer(strings.data, np.uint8)
    yield f"{name}/offsets", strings.offsets


def _table(resource: Resource, arrays: dict[str, Array]) -> Table:
    rows = _strings(f"{resource.name}/rows", arrays)
    columns, lists = {}, {}
    for field in resource.fields:
        name = f"{resource.name}/{field.name}"
        if not field.is_column:
            continue
        column = _column(name, arrays, filters=field.filters and not field.is_list)
        if field.is_list:
            lists[field.name] = _list_texts(f"{name}/texts", arrays, column.null_code)
        if not len(column.codes) == len(column.order) == len(rows):
            raise DamagedFile(f"the column {name} does not have the length of the table")
        columns[field.name] = column
    text = _text_index(f"{resource.name}/text", arrays, len(rows))
    locations = _locations(resource.name, arrays, len(rows)) if resource.coordinates else None
    key = resource.identifier
    return Table(rows, columns, order_by=CREATED_AT, key=key, text=text, locations=locations, lists=lists)


def _column(name: str, arrays: dict[str, Array], *, filters: bool) -> Column:
    codes = _take(f"{name}/codes", arrays, np.uint8, np.uint16, np.uint32)
    order, starts = (_take(f"{name}/{part}", arrays, np.int32) for part in ("order", "starts"))
    values = _strings(f"{name}/values", arrays) if filters else None
    if len(starts) == 0 or (values is not None and len(values) != len(starts) - 1):
        raise DamagedFile(f"the column {name} does not have one start for each value")
    return Column(codes, order, starts, values)


def _list_texts(name: str, arrays: dict[str, Array], count: int) -> ListTexts:
    keys = _strings(f"{name}/keys", arrays)
    texts = ListTexts(keys, *(_take(f"{name}/{part}", arrays, dtype) for part, dtype in _LIST_TYPES.items()))
    if len(texts.offsets) != count + 1 or len(texts.starts) != len(keys) + 1 or len(texts.texts) != len(texts.lists):
        raise DamagedFile(f"the {name} do not have the lengths of their column")
    return texts


def _text_index(name: str, arrays: dict[str, Array], length: int) -> TextIndex:
    words, starts = _strings(f"{name}/words", arrays), _take(f"{name}/starts", arrays, np.uint32, np.int64)
    postings = _take(f"{name}/postings", arrays, np.int32)
    if len(starts) != len(words) + 1 or starts[0] != 0 or starts[-1] != len(postings):
        raise DamagedFile(f"the index {name} does not have one start for each word")
    dense = DenseWords(*(_take(f"{name}/dense/{part}", arrays, dtype) for part, dtype in _DENSE_TYPES.items()))
    if len(dense.counts) != len(dense.numbers) or len(dense.bitmaps) != len(dense.numbers) * word_count(length):
        raise DamagedFile(f"the index {name} does not have a count and a bitmap for each dense word")
    return TextIndex(words, starts, postings, dense, length)


def _locations(resource: str, arrays: dict[str, Array], length: int) -> Locations:
    name = f"{resource}/locations"
    parts = (_take(f"{name}/{part}", arrays, dtype) for part, dtype in _LOCATION_TYPES.items())
    locations = Locations(_z_order(f"{resource}/z_order", arrays), *parts)
    if not len(locations.order) == len(locations.places) == length:
        raise DamagedFile(f"the {name} do not have the length of the table")
    if not len(locations.latitudes) == len(locations.longitudes) == locations.count <= length:
        raise DamagedFile(f"the {name} do not have two coordinates for each located row")
    if len(locations.vectors) != DIMENSIONS * locations.count:
        raise DamagedFile(f"the {name} do not have a vector for each located row")
    z_order = locations.z_order
    located = (z_order.codes, z_order.zooms, z_order.latitudes, z_order.longitudes)
    if not len(z_order.order) == len(z_order.places) == length or {len(each) for each in located} != {locations.count}:
        raise DamagedFile(f"the {resource}/z_order does not have the lengths of the {name}")
    return locations


def _z_order(name: str, arrays: dict[str, Array]) -> ZOrder:
    return ZOrder(*(_take(f"{name}/{part}", arrays, dtype) for part, dtype in _Z_ORDER_TYPES.items()))


def _strings(name: str, arrays: dict[str, Array]) -> StringArray:
    data, offsets = _take(f"{name}/data", arrays, np.uint8), _take(f"{name}/offsets", arrays, np.uint32, np.int64)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data):
        raise DamagedFile(f"the length of {name} does not match its offsets")
    return StringArray(data.data, offsets)


def _take(name: str, arrays: dict[str, Array], *types: type[np.number[Any]]) -> Array:
    if name not in arrays:
        raise DamagedFile(f"the array {name} is missing")
    array = arrays.pop(name)
    if array.dtype.type not in types:
        raise DamagedFile(f"the array {name} has the wrong type")
    return array

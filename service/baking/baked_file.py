"""A data set as arrays, and back."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from service.baking.characters import Characters, Tables
from service.baking.layout import Array, BakedContent, DamagedFile, map_file, write_file
from service.baking.validation import check_table
from service.engine.column import Column
from service.engine.table import Table
from service.engine.texts import Texts
from service.loading.dataset import Dataset, Loaded, Report, Totals
from service.loading.faults import RefusedError
from service.model.kinds import read_instant, write_instant
from service.model.records import COMPANIES, CREATED_AT, STORES, Resource

FORMAT: Final = "store-directory 2"
_VERSION: Final = re.compile("[0-9a-f]{16}")
_COLUMN_PARTS: Final = ("codes", "order", "starts")
_CHARACTER_PARTS: Final = Characters.__struct_fields__


class _Metadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a baked file says of its data; every value is a text.

    format   of the file
    version  of the data set
    totals   as `check --json` tells them
    """

    format: str
    version: str
    totals: str
    generated_at: str = ""


def bake(dataset: Dataset, totals: Totals, path: Path, *, durable: bool = True, tables: Tables = unicodedata) -> None:
    """Write a data set that is folded by `tables` into one file: the same data, the same bytes.

    Raises OSError, after which nothing is left.
    """
    arrays = dict(_table_arrays(STORES, dataset.stores)) | dict(_table_arrays(COMPANIES, dataset.companies))
    characters = Characters.of((dataset.stores.rows.data, dataset.companies.rows.data), tables)
    arrays |= {f"characters/{part}": getattr(characters, part) for part in _CHARACTER_PARTS}
    metadata = _Metadata(
        format=FORMAT,
        version=dataset.version,
        totals=msgspec.json.encode(totals).decode(),
        generated_at="" if dataset.generated_at is None else write_instant(dataset.generated_at),
    )
    write_file(path, arrays, msgspec.structs.asdict(metadata), durable=durable)


def load_baked(path: Path, *, checked: bool = False) -> Loaded:
    """Map a baked data set and check every byte of it, unless that was `checked` before.

    One that cannot be served is a fault of the report.
    """
    try:
        return read_baked(path, checked=checked)
    except DamagedFile as damage:
        why = f"{damage}; {damage.remedy}"
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}"
    return Loaded(None, Report([RefusedError(why).fault(path)], [], Totals(0, 0, 0, 0)))


def read_baked(path: Path, *, checked: bool = False, tables: Tables = unicodedata) -> Loaded:
    """Do as `load_baked`, but raise DamagedFile where the file is at fault, OSError where it cannot be read.

    Requests will be folded by `tables`.
    """
    return _loaded(map_file(path, checked=checked), tables, checked=checked)


def _loaded(content: BakedContent, tables: Tables, *, checked: bool) -> Loaded:
    metadata, totals = _read_metadata(content.metadata)
    arrays = dict(content.arrays)
    Characters(*(_take(f"characters/{part}", arrays, np.uint32) for part in _CHARACTER_PARTS)).check(tables)
    stores, companies = (_table(resource, arrays) for resource in (STORES, COMPANIES))
    if arrays:
        raise DamagedFile(f"the array {min(arrays)} is not known")
    if (len(stores), len(companies)) != (totals.stores, totals.companies):
        raise DamagedFile("the tables are not as long as the file says")
    if not checked:
        check_table(STORES.name, stores)
        check_table(COMPANIES.name, companies)
    generated_at = read_instant(metadata.generated_at) if metadata.generated_at else None
    return Loaded(Dataset(stores, companies, generated_at, metadata.version), Report([], [], totals))


def _read_metadata(texts: Mapping[str, str]) -> tuple[_Metadata, Totals]:
    if texts.get("format") != FORMAT:
        raise DamagedFile(f"the file is not of the format {FORMAT!r}")
    try:
        metadata = msgspec.convert(texts, _Metadata)
        totals = msgspec.json.decode(metadata.totals, type=Totals)
    except msgspec.DecodeError as error:
        raise DamagedFile(f"the metadata is not known: {error}") from None
    if _VERSION.fullmatch(metadata.version) is None:
        raise DamagedFile("the metadata is not known: the version is not 16 hexadecimal digits")
    if metadata.generated_at and read_instant(metadata.generated_at) is None:
        raise DamagedFile("the metadata is not known: generated_at is no date-time")
    return metadata, totals


def _table_arrays(resource: Resource, table: Table) -> Iterator[tuple[str, Array]]:
    yield from _text_arrays(f"{resource.name}/rows", table.rows)
    for field, column in table.columns.items():
        name = f"{resource.name}/{field}"
        yield from ((f"{name}/{part}", getattr(column, part)) for part in _COLUMN_PARTS)
        if column.values is not None:
            yield from _text_arrays(f"{name}/values", column.values)


def _text_arrays(name: str, texts: Texts) -> Iterator[tuple[str, Array]]:
    yield f"{name}/data", np.frombuffer(texts.data, np.uint8)
    yield f"{name}/offsets", texts.offsets


def _table(resource: Resource, arrays: dict[str, Array]) -> Table:
    rows = _texts(f"{resource.name}/rows", arrays)
    columns = {}
    for field in resource.fields:
        column = _column(f"{resource.name}/{field.name}", arrays, filters=field.filters)
        if not len(column.codes) == len(column.order) == len(rows):
            raise DamagedFile(f"the column {resource.name}/{field.name} is not as long as the table")
        columns[field.name] = column
    return Table(rows, columns, order_by=CREATED_AT, key=resource.identifier)


def _column(name: str, arrays: dict[str, Array], *, filters: bool) -> Column:
    codes = _take(f"{name}/codes", arrays, np.uint8, np.uint16, np.uint32)
    order, starts = (_take(f"{name}/{part}", arrays, np.int32) for part in ("order", "starts"))
    values = _texts(f"{name}/values", arrays) if filters else None
    if len(starts) == 0 or (values is not None and len(values) != len(starts) - 1):
        raise DamagedFile(f"the column {name} has another number of values than of their rows")
    return Column(codes, order, starts, values)


def _texts(name: str, arrays: dict[str, Array]) -> Texts:
    data, offsets = _take(f"{name}/data", arrays, np.uint8), _take(f"{name}/offsets", arrays, np.int64)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data):
        raise DamagedFile(f"the texts {name} are not as long as their offsets say")
    return Texts(data.data, offsets)


def _take(name: str, arrays: dict[str, Array], *types: type[np.integer[Any]]) -> Array:
    if name not in arrays:
        raise DamagedFile(f"the array {name} is missing")
    array = arrays.pop(name)
    if array.dtype.type not in types:
        raise DamagedFile(f"the array {name} is of another type")
    return array

"""Convert a data set to the arrays of a baked file, and back."""

import operator
import re
import sys
import unicodedata
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import msgspec
import numpy as np

from service import __version__
from service.background import Progress, silent
from service.baking.arrays import Numbers, Structure
from service.baking.characters import Characters, UnicodeTables
from service.baking.layout import FORMAT, PACKED, Array, DamagedFile, map_file, unpack_file, write_file
from service.baking.places import map_places, place_arrays
from service.baking.tables import MappedTable, table_arrays
from service.dataset import Dataset, Rejected, Totals
from service.files import Signature, check_regular
from service.model.attributes import Declaration, Schema, schema_of
from service.model.kinds import format_instant, parse_instant
from service.model.records import COMPANIES, STORES
from service.texts import truncate

_VERSION: Final = re.compile("[0-9a-f]{16}")
# Parts of columns that are 0, 1, 2, …, if they are long, are stored once: each is the beginning of this array.
_NUMBERS: Final = "numbers"
_LEAST_NUMBERED: Final = 1024
_CODES: Final = "codes"
_COLUMN_PARTS: Final = (_CODES, "order", "starts")
_POINTS: Final = Numbers((np.uint32,), "", below=sys.maxunicode + 1, rises=operator.gt)
_CHARACTERS: Final = Structure(Characters, **dict.fromkeys(Characters.__struct_fields__, _POINTS))


class _Metadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The metadata of a baked file; every value is written as a text.

    format        of the file
    version       of the data set
    totals        the JSON in the output of `check --json`
    generated_at  the time of the data; "" if it is not known
    as_of         the day that closing dates were compared with; absent if there are none
    attributes    the JSON of what the mapping declares; absent if it declares none
    listed        the digest of the list of places; absent if there is none
    numbered      the JSON of the lengths of the arrays that are the beginning of `numbers`, by name; absent if none is
    """

    format: str
    version: str
    totals: str
    generated_at: str = ""
    as_of: date | None = None
    attributes: str | None = None
    listed: str | None = None
    numbered: str | None = None


def write_baked(dataset: Dataset, path: Path, *, durable: bool = True, tables: UnicodeTables = unicodedata) -> None:
    """Write a data set, whose keys were folded with `tables`, to one file: the same data gives the same bytes.

    Raises OSError and leaves no file behind.
    """
    arrays = dict(table_arrays(STORES, dataset.stores)) | dict(table_arrays(COMPANIES, dataset.companies))
    arrays |= place_arrays(dataset.places)
    declaration = dataset.schema.declaration
    texts = [strings.data for each in (dataset.stores, dataset.companies) for strings in (each.rows, each.text.words)]
    places = dataset.places
    texts += [each.data for each in (places.addresses, places.names.words, places.others.words)]
    characters = Characters.of(texts, tables)
    arrays |= _CHARACTERS.arrays("characters", characters)
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
        listed=dataset.listed or None,
        numbered=msgspec.json.encode(numbered, order="sorted").decode() if numbered else None,
    )
    known = {name: text for name, text in msgspec.to_builtins(metadata).items() if text is not None}
    write_file(path, arrays, known, durable=durable)


def load_baked(
    path: Path, *, checked: bool = False, signature: Signature | None = None, progress: Progress = silent
) -> Dataset:
    """Map a baked data set and check every byte of it, unless it was `checked` before; see `read_baked`.

    One that is compressed is unpacked into a temporary file first. Raises `Rejected`.
    """
    try:
        if path.suffix == PACKED:
            check_regular(path.stat())
            with TemporaryDirectory() as folder, path.open("rb") as file:
                unpack_file(file, plain := Path(folder, path.stem), progress)
                return read_baked(plain, progress=progress)
        return read_baked(path, checked=checked, signature=signature, progress=progress)
    except DamagedFile as damage:
        why = f"{damage}; {damage.remedy}"
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}"
    raise Rejected(f"{path}: {why}")


def read_baked(
    path: Path,
    *,
    checked: bool = False,
    signature: Signature | None = None,
    tables: UnicodeTables = unicodedata,
    progress: Progress = silent,
) -> Dataset:
    """Map a baked data set; check every byte of it unless it was `checked` before. Raises DamagedFile or OSError.

    `signature` is that of the file if another may have its place by now; `tables` are the Unicode tables that fold the
    values in requests.
    """
    content = map_file(path, checked=checked, signature=signature, progress=progress)
    metadata, totals, schema = _read_metadata(content.metadata)
    arrays = _with_numbered(content.arrays, metadata)
    characters = _CHARACTERS.take("characters", arrays, {})
    _CHARACTERS.check("characters", characters, {})
    characters.check(tables)
    mapped = [MappedTable(resource, arrays) for resource in (schema.stores, schema.companies)]
    stores, companies = (each.table for each in mapped)
    places, check_places = map_places(arrays, stores)
    if arrays:
        raise DamagedFile(f"unknown array {min(arrays)}")
    if (len(stores), len(companies)) != (totals.stores, totals.companies):
        raise DamagedFile("the lengths of the tables do not match the metadata")
    if not checked:
        for each in mapped:
            each.check(progress)
        check_places()
    generated_at = parse_instant(metadata.generated_at) if metadata.generated_at else None
    return Dataset(
        stores, companies, places, generated_at, metadata.version, totals, metadata.as_of, schema, metadata.listed or ""
    )


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
    numbers = Numbers((np.int32,), "").take(_NUMBERS, arrays, {})
    for name, length in numbered.items():
        if name in arrays or length > len(numbers):
            raise DamagedFile(f"the metadata is invalid: {name} is not the beginning of the numbers")
        arrays[name] = numbers[:length].view(np.uint32 if name.endswith(_CODES) else np.int32)
    return arrays

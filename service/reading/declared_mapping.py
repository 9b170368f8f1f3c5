"""What a mapping declares about the data files: so far only where the companies are. Fields are taken by name."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.decompression import decode_text
from service.reading.diagnostics import FileError
from service.reading.record_file import RecordFile
from service.reading.stored_bytes import read_stored

MAPPING: Final = "mapping.toml"


class ResourceMapping(msgspec.Struct, frozen=True, kw_only=True):
    """How the records of a resource are made of those of a file."""

    encoding: str | None = None


class DataMapping(msgspec.Struct, frozen=True, kw_only=True):
    """How stores and companies are made; `derives_companies` if the companies are made of the records of stores."""

    stores: ResourceMapping = ResourceMapping()
    companies: ResourceMapping = ResourceMapping()
    derives_companies: bool = False


def load_mapping(name: str) -> DataMapping:
    """Return the mapping of a file, or the preset of a name. Raises FileError, with the key that is wrong."""
    return parse_mapping(read_stored(Path(name)))


def parse_mapping(stored: bytes) -> DataMapping:
    """Return the mapping in the bytes of its file. Raises FileError, with the key that is wrong."""
    try:
        tables = tomllib.loads(decode_text(stored).decode())
        found = msgspec.convert(tables, _Tables)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"not valid TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise FileError(str(error)) from None
    derives = found.companies.get("from") == "stores"
    return DataMapping(stores=found.stores, companies=ResourceMapping(), derives_companies=derives)


def read_mapped(file: RecordFile, mapping: ResourceMapping, resource: Resource) -> Iterator[Batch]:  # noqa: ARG001
    """Yield the records of a file by field, as a mapping declares. Raises FileError."""
    fields = [field.name for field in resource.fields]
    for batch in file.batches([name for name in fields if name in file.names]):
        empty = [None] * len(batch.numbers)
        yield msgspec.structs.replace(batch, columns={name: batch.columns.get(name, empty) for name in fields})


class _Tables(msgspec.Struct, forbid_unknown_fields=True):
    stores: ResourceMapping = ResourceMapping()
    companies: dict[str, str] = {}

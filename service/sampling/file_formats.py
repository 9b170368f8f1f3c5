"""The file formats of a sample."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import orjson
from msgspec import UNSET
from msgspec.structs import astuple

from service.model.records import Company, Store

Record = Store | Company


class SampleFormat(StrEnum):
    """A file format, by its extension."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"

    def chunks(self, fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
        """Yield the bytes of a file of records; the values of a record are in the order of `fields`."""
        match self:
            case SampleFormat.JSON:
                return _json_chunks(fields, records)
            case SampleFormat.JSONL:
                return (record + b"\n" for record in _objects(fields, records))
            case SampleFormat.CSV:
                return _csv_chunks(fields, records)


def _objects(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        values = zip(fields, astuple(record), strict=True)
        yield orjson.dumps({field: value for field, value in values if value is not UNSET})


def _json_chunks(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
    before = b"[\n"
    for record in _objects(fields, records):
        yield before + record
        before = b",\n"
    yield b"[\n]\n" if before == b"[\n" else b"\n]\n"


class _Echo:
    """The file object that `csv.writer` needs; it returns each row instead of storing it."""

    def write(self, row: str) -> str:
        return row


def _csv_chunks(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
    writer = csv.writer(_Echo(), lineterminator="\n")
    for row in _rows(fields, records):
        text: str = writer.writerow(row)
        yield text.encode()


def _rows(fields: Sequence[str], records: Iterable[Record]) -> Iterator[Sequence[str]]:
    yield fields
    for record in records:
        yield [_cell(value) for value in astuple(record)]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ""

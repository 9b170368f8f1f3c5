"""The forms that a sample is written in."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import orjson
from msgspec import UNSET
from msgspec.structs import astuple

from service.model.records import Company, Store

Record = Store | Company


class Form(StrEnum):
    """A form of file, by its extension."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"

    def pieces(self, fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
        """Yield the bytes of a file of records, whose values stand in the order of the fields' names."""
        match self:
            case Form.JSON:
                return _json_pieces(fields, records)
            case Form.JSONL:
                return (record + b"\n" for record in _objects(fields, records))
            case Form.CSV:
                return _csv_pieces(fields, records)


def _objects(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        values = zip(fields, astuple(record), strict=True)
        yield orjson.dumps({field: value for field, value in values if value is not UNSET})


def _json_pieces(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
    before = b"[\n"
    for record in _objects(fields, records):
        yield before + record
        before = b",\n"
    yield b"[\n]\n" if before == b"[\n" else b"\n]\n"


class _Echo:
    """The file that a CSV writer wants, which hands its rows back."""

    def write(self, row: str) -> str:
        return row


def _csv_pieces(fields: Sequence[str], records: Iterable[Record]) -> Iterator[bytes]:
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

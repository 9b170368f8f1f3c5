"""Records of files with a mapping: the file is opened, and its columns are mapped."""

from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch, Cell
from service.reading.data_files import FileSet, StoredFile
from service.reading.formats import Format
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.record_file import RecordFile
from service.reading.records import Records, read_records

COLUMNS: Final[dict[str, Sequence[Cell]]] = {
    "store_id": ("s1", "s2", "s3"),
    "company_id": ("c1", "c2", "c1"),
    "name": ("One", "Two", "Three"),
    "address_1": ("a", "b", "c"),
    "city": ("a", "b", "c"),
    "country": ("a", "b", "c"),
    "other": ("", "", ""),
}

NAMED: Final = b'companies = {from = "stores", fields = {name = "name"}}'


class Lines(RecordFile):
    """A file of three records."""

    names = tuple(COLUMNS)
    assumed = ("three records",)
    is_table = False

    def __init__(self, text: bytes) -> None:
        assert text == b"text"

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        yield Batch(
            range(1, 4), {name: COLUMNS.get(name, [None] * 3) for name in columns}, lambda: range(2, 5), (), (), 1, 1
        )


def open_lines(content: bytes, **_: object) -> RecordFile:
    return Lines(content)


def read(resource: Resource, mapping: DataMapping) -> tuple[Records, Batch]:
    file = StoredFile("stores.lines", Format(open_lines, line_ends=(b"\n",)), None, b"text", None)
    records = read_records(file, resource, FileSet({}, [], mapping=mapping, derives_companies=True))
    (batch,) = records.batches
    return records, batch


def test_a_mapped_file_is_opened_and_has_all_fields() -> None:
    records, batch = read(STORES, DataMapping())
    assert (records.assumed, records.unterminated) == (["three records"], 1)
    assert list(batch.columns) == [field.name for field in STORES.fields]
    assert tuple(batch.columns["store_id"]) == ("s1", "s2", "s3")
    assert list(batch.columns["province"]) == [None] * 3


@pytest.mark.parametrize(
    ("mapping", "names", "assumed"),
    [
        (parse_mapping(NAMED), ["One", "Two"], "as the mapping declares"),
        (DataMapping(), ["c1", "c2"], "from company_id"),
    ],
)
def test_companies_are_the_distinct_ones_of_the_mapped_file(
    mapping: DataMapping, names: list[str], assumed: str
) -> None:
    records, batch = read(COMPANIES, mapping)
    assert assumed in records.assumed[0]
    assert records.unterminated is None
    assert (list(batch.columns["company_id"]), list(batch.columns["name"])) == (["c1", "c2"], names)
    assert (batch.numbers, batch.lines()) == ([1, 2], [2, 3])

"""Records of files with a mapping: the file is opened, and its columns are mapped."""

import json
from typing import Final

import pytest

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch
from service.reading.files.data_files import FileSet, StoredFile
from service.reading.files.records import RecordReader, Records
from service.reading.formats.file_format import GEOJSON_LINES
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapping_file import parse_mapping

PLACE: Final = {"address_1": "a", "city": "a", "country": "a", "other": ""}
STORES_READ: Final = [
    {"store_id": "s1", "company_id": "c1", "name": "One", **PLACE},
    {"store_id": "s2", "company_id": "c2", "name": "Two", **PLACE},
    {"store_id": "s3", "company_id": "c1", "name": "Three", **PLACE},
]
# The last line has no end.
TEXT: Final = b"\n".join(
    json.dumps({"type": "Feature", "geometry": None, "properties": properties}).encode() for properties in STORES_READ
)

NAMED: Final = b'companies = {from = "stores", fields = {name = "name"}}'


def read(resource: Resource, mapping: DataMapping) -> tuple[Records, Batch]:
    file = StoredFile("stores.geojsonl", GEOJSON_LINES, None, TEXT, None)
    records = RecordReader(resource, FileSet({}, [], mapping=mapping, derives_companies=True)).read(file)
    (batch,) = records.batches
    return records, batch


def test_a_mapped_file_is_opened_and_has_all_fields() -> None:
    records, batch = read(STORES, DataMapping())
    assert (list(records.assumed), records.unterminated) == (
        ['columns "geometry.latitude" → latitude, "geometry.longitude" → longitude'],
        3,
    )
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
    assert (batch.numbers, batch.lines()) == ([1, 2], [1, 2])

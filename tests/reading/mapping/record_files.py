"""Files of records as the readers of formats open them, and what is loaded from them."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.loading.compiler import Compiler
from service.loading.dataset import dataset_version
from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import BATCH_SIZE, Batch, Cell, UnusedName, WrongType
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.derived_companies import derived_companies
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.mapping.record_mapper import read_mapped
from service.reading.record_file import RecordFile


class Records(RecordFile):
    """Records in memory, each a mapping from column to cell."""

    def __init__(self, names: Sequence[str], records: Sequence[Mapping[str, Cell]], *, is_table: bool = True) -> None:
        self.names, self.assumed, self.is_table = names, (), is_table
        self._records = records

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for start in range(0, len(self._records), BATCH_SIZE):
            records = self._records[start : start + BATCH_SIZE]
            numbers = range(start + 1, start + 1 + len(records))
            cells = {name: [record.get(name) for record in records] for name in columns}
            unused = [UnusedName(name, 1, len(records)) for name in self.names if name not in columns]
            yield Batch(numbers, cells, lambda numbers=numbers: [each + 1 for each in numbers], (), unused, 1, 1)  # type: ignore[misc]


def table(text: str) -> Records:
    """Return the records of a CSV text."""
    header, *rows = csv.reader(io.StringIO(text.strip() + "\n"))
    return Records(header, [dict(zip(header, row, strict=True)) for row in rows])


def geojson(text: str) -> Records:
    """Return the records of the features of GeoJSON."""
    features = [dict(_members(feature)) for feature in json.loads(text, parse_float=str, parse_int=str)["features"]]
    return Records(list(dict.fromkeys(name for each in features for name in each)), features, is_table=False)


def nested(records: Sequence[Mapping[str, Any]]) -> Records:
    """Return records by the paths of their members."""
    found = [dict(_paths(record)) for record in records]
    return Records(list(dict.fromkeys(name for each in found for name in each)), found, is_table=False)


def _members(feature: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    yield from _paths(feature["properties"])
    if "id" in feature:
        yield "feature.id", feature["id"]
    if feature["geometry"] is not None:
        longitude, latitude = feature["geometry"]["coordinates"]
        yield from (("geometry.latitude", latitude), ("geometry.longitude", longitude))


def _paths(value: object, path: str = "") -> Iterator[tuple[str, Cell]]:
    if isinstance(value, str | bool | None):
        yield path, value
    elif isinstance(value, int | float):
        yield path, str(value)
    elif isinstance(value, Mapping | list):
        members = value.items() if isinstance(value, Mapping) else enumerate(value)
        if path:
            yield path, WrongType(json.dumps(value))
        for name, member in members:
            yield from _paths(member, f"{path}.{name}" if path else str(name))


class Compiled:
    """What is loaded from files: the version of the tables, their rows, and what was reported."""

    def __init__(self, stores: Iterator[Batch], companies: Iterator[Batch]) -> None:
        company = _compile(COMPANIES, companies, None)
        store = _compile(STORES, stores, company)
        self.diagnostics = [*company.errors, *company.warnings, *store.errors, *store.warnings]
        company_table = company.build()
        store_table = store.build(company_table)
        self.version = dataset_version((store_table, company_table))
        self.stores = [json.loads(store_table.rows[row][:-1]) for row in range(len(store_table))]
        self.companies = [json.loads(company_table.rows[row][:-1]) for row in range(len(company_table))]


def _compile(resource: Resource, batches: Iterator[Batch], companies: Compiler | None) -> Compiler:
    compiler = Compiler(resource, file=resource.name, companies=companies.identifiers if companies else None)
    for batch in batches:
        compiler.add(batch)
    compiler.close()
    return compiler


def compiled(mapping: DataMapping | str, stores: RecordFile, companies: RecordFile | None = None) -> Compiled:
    """Load files by a mapping, or by the text of one."""
    declared = parse_mapping(mapping.encode()) if isinstance(mapping, str) else mapping
    found = read_mapped(companies, declared.companies, COMPANIES) if companies else derived(declared, stores)
    return Compiled(read_mapped(stores, declared.stores, STORES), found)


def derived(mapping: DataMapping, stores: RecordFile) -> Iterator[Batch]:
    assert mapping.derives_companies
    return derived_companies(stores, mapping.companies)

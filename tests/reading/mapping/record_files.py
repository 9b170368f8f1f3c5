"""Files of records as the readers of formats open them, and what is loaded from them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from service.loading.compiler import Compiler
from service.loading.dataset import dataset_version
from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, UnusedName
from service.reading.files.records import DistinctCompanies
from service.reading.formats.csv_file import open_csv
from service.reading.formats.geojson import open_geojson
from service.reading.formats.json_file import open_json
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.mapping.mapping_file import parse_mapping

RECORD = {"store_id": "s1", "company_id": "c1", "address_1": "1 Elm St", "city": "Ada", "country": "CA"}


class Records(RecordFile):
    """Records in memory, each a mapping from column to cell."""

    def __init__(self, names: Sequence[str], records: Sequence[Mapping[str, Cell]], *, is_table: bool = True) -> None:
        self.names, self.assumed, self.is_table = names, (), is_table
        self._records = records

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        for start in range(0, len(self._records), BATCH_SIZE):
            records = self._records[start : start + BATCH_SIZE]
            numbers = range(start + 1, start + 1 + len(records))
            cells = {name: [record.get(name) for record in records] for name in (*columns, *also)}
            unused = [UnusedName(name, 1, len(records)) for name in self.names if name not in columns]
            yield Batch(numbers, cells, lambda numbers=numbers: [each + 1 for each in numbers], (), unused, 1, 1)  # type: ignore[misc]


def records(**cells: str) -> Records:
    """Return records with the required fields, and columns with the cells in a text each, by name."""
    values = {name: texts.split("|") for name, texts in cells.items()}
    rows = zip_longest(*values.values())
    return Records([*RECORD, *cells], [RECORD | dict(zip(values, row, strict=True)) for row in rows])


def table(text: str) -> RecordFile:
    """Return the records of a CSV text."""
    return open_csv((text.strip() + "\n").encode())


def geojson(text: str) -> RecordFile:
    """Return the records of the features of GeoJSON."""
    return open_geojson(text.encode())


def nested(records: Sequence[Mapping[str, Any]]) -> RecordFile:
    """Return records by the paths of their members."""
    return open_json(json.dumps(records).encode())


def sample(preset: str) -> RecordFile:
    """Return the records of a file of the source that a preset is for."""
    (file,) = Path(__file__).parent.glob(f"{preset.replace('-', '_')}.*")
    text = file.read_text("utf-8")
    return nested(json.loads(text)) if file.suffix == ".json" else (table if file.suffix == ".csv" else geojson)(text)


def features(*properties: Mapping[str, Any], **members: Any) -> RecordFile:
    """Return the records of features with some properties, all with the same members, and nowhere."""
    found = [{"type": "Feature", "geometry": None, "properties": each, **members} for each in properties]
    return geojson(json.dumps({"type": "FeatureCollection", "features": found}))


class Compiled:
    """A data set loaded from files: the version of the tables, their rows, and what was reported."""

    def __init__(self, stores: Iterator[Batch], companies: Iterator[Batch]) -> None:
        company = _compile(COMPANIES, companies, None)
        store = _compile(STORES, stores, company)
        self.diagnostics = [*company.errors, *company.warnings, *store.errors, *store.warnings]
        company_table = company.build()
        store_table = store.build(company_table)
        self.version = dataset_version((store_table, company_table))
        self.stores = [json.loads(bytes(store_table.row(row))) for row in range(len(store_table))]
        self.companies = [json.loads(bytes(company_table.row(row))) for row in range(len(company_table))]


def _compile(resource: Resource, batches: Iterator[Batch], companies: Compiler | None) -> Compiler:
    compiler = Compiler(resource, file=resource.name, companies=companies.identifiers if companies else None)
    for batch in batches:
        compiler.add(batch)
    compiler.close()
    return compiler


def compiled(mapping: DataMapping | str, stores: RecordFile, companies: RecordFile | None = None) -> Compiled:
    """Load files by a mapping, or by the text of one."""
    declared = parse_mapping(mapping.encode()) if isinstance(mapping, str) else mapping
    assert companies or declared.derives_companies
    found = MappedRecords(companies or stores, declared.companies, COMPANIES, by_name=bool(companies)).batches()
    of_stores = MappedRecords(stores, declared.stores, STORES).batches()
    return Compiled(of_stores, found if companies else map(DistinctCompanies().of, found))

"""Random data sets for baking, written as files, and what is compared of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from service.baking.baked_file import write_baked
from service.dataset import Dataset
from service.engine.columns.column import StringArray
from service.engine.table import Table
from service.loading.dataset import load
from service.model.records import COMPANIES, STORES, Resource
from tests.declared_attributes import NONE, Attributes, add_random, mapping, nested
from tests.directory import company, store, write_directory, write_manifest
from tests.engine import random_records
from tests.engine.oracle import Record, flag
from tests.interface_fields import STORE_FIELDS

# One of each with a value in every field, so that no array is empty.
VALUES = {"identifier": "acme", "words": "Örebro Ⅳ", "postal": "M5V 2T6", "number": "43.70", "instant": "2024-01-03"}
STORE = {
    **{field.name: VALUES[field.kind] for field in STORE_FIELDS if field.kind in VALUES},
    **store("s1", longitude="-79.4", updated_at="2024-05-31 10:00"),
}
COMPANY = company(domain="acme.example", parent_company_id="acme", created_at="2020-01-02")
GENERATED_AT = ["2024-05-31", "2024-05-31T10:00:00.5+02:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]


class RandomDataset(NamedTuple):
    """Valid records by resource, the time in the manifest, and the attributes that the records have."""

    records: dict[str, list[Record]]
    generated_at: str | None
    attributes: Attributes = NONE

    def write(self, folder: Path) -> Path:
        """Write the records as JSON, with a manifest where it has something to say."""
        written = {name: [nested(self.attributes[name], each) for each in made] for name, made in self.records.items()}
        stores = [{**record, "is_open": flag(record["is_open"] or "")} for record in written[STORES.name]]
        write_directory(folder, stores, written[COMPANIES.name])
        if any(self.attributes.values()):
            (folder / "mapping.toml").write_text(mapping(self.attributes))
        if self.generated_at is not None:
            write_manifest(folder, self.generated_at)
        return folder


def datasets() -> st.SearchStrategy[RandomDataset]:
    """Return valid data sets, empty ones too, with few values in many spellings, many of them missing."""
    sizes = st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(1, 12), st.integers(0, 2**32))
    return st.builds(random_dataset, sizes, st.none() | st.sampled_from(GENERATED_AT))


def random_dataset(
    sizes: tuple[int, int, int, int], generated_at: str | None = None, attributes: Attributes = NONE
) -> RandomDataset:
    """Return a valid data set: the numbers of stores and companies, the values per field, and a seed."""
    stores, companies, variety, seed = sizes
    firms = _records(COMPANIES, count=companies, variety=variety, seed=seed)
    made = _records(STORES, count=stores if firms else 0, variety=variety, seed=seed)
    owned: list[Record] = [
        {**each, "company_id": firms[place % len(firms)]["company_id"]} for place, each in enumerate(made)
    ]
    records = {STORES.name: owned, COMPANIES.name: firms}
    described = {name: add_random(attributes[name], each, variety, seed) for name, each in records.items()}
    return RandomDataset(described, generated_at, attributes)


def _records(resource: Resource, *, count: int, variety: int, seed: int) -> list[Record]:
    made = random_records.records(random_records.COLLECTIONS[resource.name], count=count, variety=variety, seed=seed)
    needed = {field.name for field in resource.fields if field.required}
    return [{name: "-" if text is None and name in needed else text for name, text in each.items()} for each in made]


def loaded(folder: Path) -> Dataset:
    """Return a valid data set, loaded from its files."""
    found = load(folder)
    assert found.dataset is not None, found.report.errors
    assert found.report.errors == []
    return found.dataset


def baked_file(folder: Path, file: Path) -> Path:
    """Bake a folder into a file, and return the file."""
    write_baked(loaded(folder), file)
    return file


def small_file(folder: Path) -> Path:
    """Bake a data set of one store and one company, and return the file, alone in its folder."""
    data = write_directory(folder / "data", [STORE], [COMPANY])
    (folder / "baked").mkdir()
    return baked_file(data, folder / "baked" / "small.baked")


def contents(dataset: Dataset) -> dict[str, object]:
    """Return all parts of a data set as comparable values: arrays as type and bytes."""
    tables = {STORES.name: dataset.stores, COMPANIES.name: dataset.companies}
    parts: dict[str, object] = {"summary": dataset.summary}
    return parts | {f"{name}/{part}": value for name, table in tables.items() for part, value in _parts(table)}


def _parts(table: Table) -> Iterator[tuple[str, object]]:
    yield "rows", _texts(table.rows)
    yield "order_by", table.order_by
    yield "key", table.key
    yield "text/words", _texts(table.text.words)
    for name, owner, parts in _owners(table):
        for part in parts:
            array = getattr(owner, part)
            yield f"{name}/{part}", (array.dtype.str, array.shape, array.tobytes())
    for name, column in table.columns.items():
        yield f"{name}/values", None if column.values is None else _texts(column.values)


def _owners(table: Table) -> Iterator[tuple[str, object, Sequence[str]]]:
    """Yield what has arrays, with its name and theirs."""
    yield "text", table.text, ("starts", "postings")
    yield "text/dense", table.text.dense, ("numbers", "counts", "bitmaps")
    yield from ((name, column, ("codes", "order", "starts")) for name, column in table.columns.items())
    if table.locations is not None:
        parts = [part for part in table.locations.__struct_fields__ if part != "z_order"]
        yield "locations", table.locations, parts
        yield "z_order", table.locations.z_order, table.locations.z_order.__struct_fields__


def _texts(texts: StringArray) -> tuple[str, bytes, bytes]:
    return texts.offsets.dtype.str, texts.offsets.tobytes(), bytes(texts.data)

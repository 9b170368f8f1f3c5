"""A baked data set equals the one loaded from its files."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given, strategies as st

from service.baking.baked_file import load_baked, write_baked
from service.baking.layout import map_file
from service.dataset import Totals
from service.engine.results import page
from service.engine.table import Table
from service.model.query import QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.publishing.snapshot import mapped
from service.sampling.sample_dataset import write_sample
from tests.baking.random_datasets import RandomDataset, baked_file, contents, datasets, loaded
from tests.directory import company, store, write_directory, write_manifest
from tests.engine.oracle import Pairs
from tests.engine.random_records import COLLECTIONS, queries
from tests.loading.data_files import Record, as_json, load_files

COMPANY_RECORDS: list[Record] = [
    company("nord", created_at="2020-02-02"),
    company(),
    company("東京", domain="ü.example"),
]
STORE_RECORDS: list[Record] = [
    store("s3", company_id="nord", name='A "quoted",\r\nbroken name', latitude="43.70", created_at="2024-05-31"),
    store("é", city="東京", created_at="2024-05-31T00:00:01Z", updated_at="2024-05-31 10:00", longitude="1e2x"),
    store("s1", parent_company_id="nord", province="ON", postal_code="M5V 2T6", is_open=False),
]


def asked(table: Table, resource: Resource, asking: Sequence[Pairs]) -> list[object]:
    """Return what a table answers to queries, and to a look-up of each identifier and of one that no record has."""
    reader = QueryParser(resource)
    pages = [page(table, reader.parse(pairs, strict=True)) for pairs in asking]
    values = table.columns[table.key].values
    keys = [] if values is None else [values[place].decode() for place in range(len(values))]
    return [*pages, *map(table.find, [*keys, "nobody"])]


@given(st.data(), datasets())
def test_a_baked_dataset_has_the_arrays_and_query_results_of_its_files(
    data: st.DataObject, made: RandomDataset
) -> None:
    with TemporaryDirectory() as scratch:
        folder = made.write(Path(scratch, "data"))
        dataset = loaded(folder)
        mapped = load_baked(baked_file(folder, Path(scratch, "set.baked")))
        assert contents(mapped) == contents(dataset)
        for resource in (STORES, COMPANIES):
            one, other = (getattr(each, resource.name) for each in (dataset, mapped))
            pairs = queries(COLLECTIONS[resource.name], made.records[resource.name], [1, 3, 8, 1000])
            asking = data.draw(st.lists(pairs, min_size=3, max_size=3))
            assert asked(one, resource, asking) == asked(other, resource, asking)


def test_a_sample_with_codes_of_every_width_is_the_same_after_baking(tmp_path: Path) -> None:
    write_sample(tmp_path / "data", stores=3000, companies=40, seed=4)
    dataset = loaded(tmp_path / "data")
    mapped = load_baked(baked_file(tmp_path / "data", tmp_path / "set.baked"))
    assert contents(mapped) == contents(dataset)
    assert {column.codes.itemsize for column in mapped.stores.columns.values()} == {1, 2}


def test_an_array_that_counts_rows_is_stored_once(tmp_path: Path) -> None:
    write_sample(tmp_path / "data", stores=3000, companies=40, seed=4)
    content = map_file(baked_file(tmp_path / "data", tmp_path / "set.baked"))
    numbered = msgspec.json.decode(content.metadata["numbered"], type=dict[str, int])
    assert {"stores/created_at/order": 3000, "stores/store_id/starts": 3001}.items() <= numbered.items()
    assert content.arrays["numbers"].tolist() == list(range(max(numbered.values())))
    assert not numbered.keys() & content.arrays.keys()


def test_a_baked_dataset_baked_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", STORE_RECORDS, COMPANY_RECORDS)
    write_manifest(folder, "2024-05-31T10:00:00.5+02:00")
    file = baked_file(folder, tmp_path / "set.baked")
    write_baked(load_baked(file), tmp_path / "again.baked")
    assert (tmp_path / "again.baked").read_bytes() == file.read_bytes()


def test_the_counts_of_skipped_records_are_baked(tmp_path: Path) -> None:
    stores = [store("s1"), store("s1"), store("s2", city=None)]
    found = load_files(tmp_path / "data", {"stores.json": as_json(stores), "companies.json": as_json([company()])})
    assert found.dataset is not None
    write_baked(found.dataset, tmp_path / "set.baked")
    assert load_baked(tmp_path / "set.baked").totals == Totals(stores=1, companies=1, skipped=1, repeated=1)


def test_what_finds_values_is_made_when_data_is_served_not_by_the_first_request(tmp_path: Path) -> None:
    """And not for an export, which needs none of it."""
    write_sample(tmp_path / "data", stores=500, companies=20, seed=3)
    file = baked_file(tmp_path / "data", tmp_path / "set.baked")
    assert "sparse_index" not in vars(load_baked(file).stores.text.words)
    dataset = mapped(file, None)
    tables, places = (dataset.stores, dataset.companies), dataset.places
    searched = [column.values for table in tables for column in table.columns.values() if column.values]
    searched += [each.text.words for each in tables]
    searched += [places.names.words, places.others.words, places.spoken.keys, places.codes.keys, places.backwards]
    assert all("sparse_index" in vars(strings) for strings in (*searched, places.country_keys, dataset.stores.times))

"""The version of a data set: the same for the same data, another for any other."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from service.baking.baked_file import load_baked
from service.loading.dataset import dataset_version
from service.model.records import COMPANIES, STORES, Field, Resource
from tests.baking.random_datasets import COMPANY, STORE, baked_file, loaded
from tests.directory import Record, company, store, write_directory, write_manifest
from tests.loading.data_files import COMPANY_FIELDS, STORE_FIELDS, as_csv, load_files

SECOND = company("nord")
OTHERS: dict[str, object] = {"company_id": "nord", "flag": False, "number": "7.5", "instant": "2001-01-01"}

FIELDS = [(resource, field) for resource in (STORES, COMPANIES) for field in resource.fields if field.served]


def version(folder: Path, stores: Sequence[Record], companies: Sequence[Record]) -> str:
    return loaded(write_directory(folder, stores, companies)).version


def others(field: Field, record: Record) -> list[Record]:
    """Return a record with another value in a field, and where none is needed with no value."""
    other = OTHERS.get(field.name, OTHERS.get(field.kind.name, "other"))
    values = [other] if field.required or field.kind.name == "flag" else [other, None]
    return [{**record, field.name: value} for value in values]


def test_the_same_data_has_the_same_version_from_every_source(tmp_path: Path) -> None:
    stores, companies = [STORE, store("s2")], [COMPANY, SECOND]
    folder = write_directory(tmp_path / "json", stores, companies)
    expected = loaded(folder).version
    rows = {"stores.csv": as_csv(stores[::-1], STORE_FIELDS), "companies.csv": as_csv(companies, COMPANY_FIELDS)}
    other_files = load_files(tmp_path / "csv", rows).dataset
    mapped = load_baked(baked_file(folder, tmp_path / "set.baked"))
    assert other_files is not None
    assert [other_files.version, mapped.version, dataset_version((mapped.stores, mapped.companies))] == [expected] * 3
    write_manifest(folder, "2024-05-31")
    assert loaded(folder).version == expected


@pytest.mark.parametrize(("resource", "field"), FIELDS, ids=lambda each: each.name)
def test_changing_a_value_of_a_record_changes_the_version(tmp_path: Path, resource: Resource, field: Field) -> None:
    record = STORE if resource is STORES else COMPANY
    records = [record, *others(field, record)]
    versions = {
        version(tmp_path / str(number), [each], [COMPANY, SECOND])
        if resource is STORES
        else version(tmp_path / str(number), [], [each, company("b")])
        for number, each in enumerate(records)
    }
    assert len(versions) == len(records)


def test_adding_or_removing_a_record_changes_the_version(tmp_path: Path) -> None:
    sets = [([], []), ([], [COMPANY]), ([], [COMPANY, SECOND]), ([STORE], [COMPANY, SECOND])]
    versions = {version(tmp_path / str(number), *each) for number, each in enumerate(sets)}
    assert len(versions) == len(sets)


# It is not answered, yet it orders: each of these is answered in another order, ascending or descending.
def test_changing_the_order_of_companies_changes_the_version(tmp_path: Path) -> None:
    dates = [("2020-01-01", "2021-01-01"), ("2021-01-01", "2020-01-01"), ("2020-01-01", "2020-01-01")]
    versions = [
        version(tmp_path / str(number), [], [company("a", created_at=one), company("b", created_at=other)])
        for number, (one, other) in enumerate([*dates, ("2020-01-01", None)])
    ]
    assert len(set(versions)) == len(versions)

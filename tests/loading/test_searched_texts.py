# ruff: noqa: RUF001 - they are other scripts
"""The texts in which the words of a loaded data set are searched."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.dataset import Dataset
from service.engine.select import select
from service.engine.table import Table
from service.loading.dataset import load
from service.model.query import Criteria
from service.model.records import CREATED_AT
from service.model.words import parse_terms
from tests.directory import company, store, write_directory
from tests.engine.search_oracle import NAMES, matches
from tests.interface_fields import STORE_FIELDS, names

SEARCHED = [name for name in names(STORE_FIELDS, "searched") if name != "store_id"]
VALUES = st.sampled_from([name for name in NAMES if "\x00" not in name])


def loaded(folder: Path, stores: list[dict[str, object]], companies: list[dict[str, object]]) -> Dataset:
    dataset = load(write_directory(folder, stores, companies)).dataset
    assert dataset is not None
    return dataset


def found(table: Table, search: str, key: str) -> set[str]:
    selection = select(table, Criteria(terms=parse_terms(search)), CREATED_AT)
    rows = selection.slice(0, selection.total).tolist()
    return {msgspec.json.decode(table.row(row))[key] for row in rows}


@given(st.lists(st.lists(VALUES, min_size=len(SEARCHED), max_size=len(SEARCHED)), max_size=12))
def test_stores_are_found_by_their_raw_texts_and_those_of_their_companies(
    tmp_path_factory: pytest.TempPathFactory, made: list[list[str]]
) -> None:
    companies: list[dict[str, Any]] = [company("c0", name="Löwe", domain="lion.example"), company("c1", name="東京屋")]
    stores: list[dict[str, Any]] = [
        store(f"s-{number}", company_id=f"c{number % 2}", **dict(zip(SEARCHED, values, strict=True)))
        for number, values in enumerate(made)
    ]
    table = loaded(tmp_path_factory.mktemp("data"), stores, companies).stores
    texts = {}
    for each in stores:
        firm = companies[int(each["company_id"][1:])]
        own = [each[name] for name in ("store_id", *SEARCHED)]
        texts[each["store_id"]] = [*own, firm["name"], firm.get("domain", ""), "".join(each["postal_code"].split())]
    for search in (*(name for name in NAMES if parse_terms(name)), "lowe", "lion.ex", "京屋", "s-1", "c1"):
        expected = {identifier for identifier, searched in texts.items() if matches(searched, search)}
        assert found(table, search, "store_id") == expected, search


def test_companies_are_found_by_name_domain_and_identifier(tmp_path: Path) -> None:
    companies = [company("cafe-1", name="L ´Été", domain="summer.example"), company("x", name="b")]
    table = loaded(tmp_path, [], companies).companies
    for search in ("cafe", "1", "ete", "summer", "example l"):
        assert found(table, search, "company_id") == {"cafe-1"}, search
    assert found(table, "lete", "company_id") == set()


def test_other_fields_are_not_searched(tmp_path: Path) -> None:
    stores = [store("s1", phone_number="4161234567", latitude="43.7", country="Kanada")]
    table = loaded(tmp_path, stores, [company(name="a")]).stores
    for search in ("4161234567", "43", "kanada", "acme"):
        assert found(table, search, "store_id") == set(), search


def test_only_kept_records_are_indexed(tmp_path: Path) -> None:
    one, two = store("s1", name="one", postal_code="A 1"), store("s2", name="two", city=None)
    table = load(write_directory(tmp_path, [one, two, store("s3", name="´three´"), one])).dataset
    assert table is not None
    assert found(table.stores, "one", "store_id") == {"s1"}
    assert found(table.stores, "a1", "store_id") == {"s1"}
    assert found(table.stores, "three", "store_id") == {"s3"}
    assert found(table.stores, "two", "store_id") == set()

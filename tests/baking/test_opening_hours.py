"""The arrays of opening hours in a baked file: kept, part of the data version, and refused if they are inconsistent."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.baking.baked_file import load_baked, write_baked
from service.baking.layout import map_file
from service.dataset import Dataset, Rejected
from service.engine.results import page
from service.loading.dataset import dataset_version
from service.model.query import QueryParser
from tests.baking.forging import Forge
from tests.baking.random_datasets import loaded
from tests.directory import company, store, write_directory
from tests.engine.hours_oracle import CHANGES, is_open, random_hours
from tests.reading.hours.weeks import normal

INSTANT = CHANGES[0]
TIMES = "stores/attributes.opening_hours/times"
RANDOM = Random(1)
HOURS = [*(normal(random_hours(RANDOM, INSTANT)) for _ in range(40)), None]


def dataset_of(folder: Path, hours: Sequence[object]) -> Dataset:
    stores = [store(f"s{number:02}", attributes={"opening_hours": each}) for number, each in enumerate(hours)]
    write_directory(folder, stores, [company()])
    (folder / "mapping.toml").write_text('[stores.attributes]\nopening_hours = { kind = "hours" }\n')
    return loaded(folder)


def open_stores(dataset: Dataset, instant: datetime) -> list[str]:
    query = QueryParser(dataset.schema.stores).parse([("open_at", instant.isoformat())], strict=True)
    rows = msgspec.json.decode(b"[" + b"".join(page(dataset.stores, query).rows) + b"]")
    return sorted(each["store_id"] for each in rows)


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hours")
    write_baked(dataset_of(folder / "data", HOURS), folder / "hours.baked")
    return folder / "hours.baked"


@pytest.fixture(scope="module")
def forge(baked: Path) -> Forge:
    return Forge(baked)


def test_a_baked_file_finds_the_stores_that_are_open(baked: Path, tmp_path: Path) -> None:
    expected = [f"s{number:02}" for number, each in enumerate(HOURS) if each and is_open(each, INSTANT)]
    assert expected
    assert open_stores(load_baked(baked), INSTANT) == expected == open_stores(dataset_of(tmp_path, HOURS), INSTANT)


def test_stores_in_another_order_have_the_same_arrays_but_for_their_rows(forge: Forge, tmp_path: Path) -> None:
    other = dataset_of(tmp_path / "data", HOURS[::-1])
    write_baked(other, tmp_path / "other.baked")
    names = [name for name in forge.arrays if name.startswith(TIMES)]
    arrays = map_file(tmp_path / "other.baked").arrays
    assert len(names) == 11
    assert all(np.array_equal(forge.arrays[name], arrays[name]) for name in names)


@pytest.mark.parametrize("part", ["changes", "offsets"])
def test_the_changes_of_clocks_are_part_of_the_version(baked: Path, part: str) -> None:
    dataset = load_baked(baked)
    stores, tables, declaration = dataset.stores, (dataset.stores, dataset.companies), dataset.schema.declaration
    assert dataset_version(tables, declaration) == dataset.version
    assert stores.hours is not None
    array = getattr(stores.hours, part).copy()
    array[-1] += 1
    stores.hours = msgspec.structs.replace(stores.hours, **{part: array})
    assert dataset_version(tables, declaration) != dataset.version


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (("zones", 3, 200), "the changes of {} are not those of its zones"),
        (("changes", 0, 1), "the changes of {} are not those of its zones"),
        (("changes", 0, -1), "the changes of {} are not those of its zones"),
        (("changes", -1, 2**62), "the changes of {} are not those of its zones"),
        (("changes", 1, 0), "the array {}/changes is not ascending"),
        (("offsets", 1, 86401), "the array {}/offsets is out of range"),
        (("week/hours", 0, 40), "the array {}/week/hours is out of range"),
        (("week/hours", 0, -1), "the array {}/week/hours is out of range"),
        (("week/starts", -1, 10080), "the array {}/week/starts is out of range"),
        (("week/starts", 0, 9999), "the array {}/week/starts is not ascending"),
        (("week/lengths", 0, 1441), "the array {}/week/lengths is out of range"),
        (("exceptions/hours", 0, 40), "the array {}/exceptions/hours is out of range"),
        (("exceptions/starts", 0, 1440), "the array {}/exceptions/starts is out of range"),
        (("exceptions/lengths", 0, 1441), "the array {}/exceptions/lengths is out of range"),
    ],
)
def test_an_item_that_cannot_be_is_refused(forge: Forge, item: tuple[str, int, int], why: str) -> None:
    part, place, value = item
    assert forge.refusal_of(f"{TIMES}/{part}", place, value) == why.format(TIMES)


def test_arrays_that_are_missing_or_of_other_lengths_are_refused(forge: Forge) -> None:
    for name in (name for name in forge.arrays if name.startswith(TIMES)):
        shorter = {name: forge.arrays[name][:-1]}
        assert "does not have the length of the others" in forge.refusal(shorter) or "changes" in name
    none = {f"{TIMES}/{part}": forge.arrays[f"{TIMES}/{part}"][:0] for part in ("changes", "offsets")}
    assert "not those of its zones" in forge.refusal(none)


@given(st.data())
def test_a_file_with_any_other_item_is_refused_or_answers(forge: Forge, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in forge.arrays if name.startswith(TIMES)]))
    bounds, place = np.iinfo(forge.arrays[name].dtype), st.integers(0, len(forge.arrays[name]) - 1)
    array = forge.with_item(name, data.draw(place), data.draw(st.integers(int(bounds.min), int(bounds.max))))
    try:
        dataset = forge.dataset({name: array})
    except Rejected:
        return
    for instant in CHANGES:
        open_stores(dataset, instant)


def test_hours_of_companies_or_twice_are_refused(forge: Forge) -> None:
    attribute = msgspec.json.decode(forge.texts["attributes"])["stores"][0]
    for wrong in (
        {"stores": [attribute, {**attribute, "name": "others"}], "companies": []},
        {"stores": [], "companies": [attribute]},
    ):
        assert "opening hours" in forge.refusal(attributes=msgspec.json.encode(wrong).decode())

"""The columns of a file are the fields that they are named like; what is unclear or missing is refused."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from service.model.records import COMPANIES, STORES
from service.reading.batch import Batch, RecordFile
from service.reading.columns.field_names import columns_by_name, describe_renamed
from service.reading.diagnostics import FileError
from service.reading.mapping.declaration import NO_MAPPING
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from tests.loading.data_files import COMPANY_FIELDS, REQUIRED, STORE_FIELDS, as_csv, load_stores, refusal, rows, store


class Opened(RecordFile):
    """A file of one batch, in which each cell is the name of its column."""

    assumed = ("semicolons",)
    line = 3

    def __init__(self, *names: str) -> None:
        self.names = names

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        yield Batch(range(1, 3), {name: (name, name) for name in (*columns, *also)}, lambda: [4, 5], [], [], 2, 2)


def store_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of the fields of stores."""
    return columns_by_name(names, STORES, STORE_FIELDS)


@pytest.mark.parametrize(
    "name", ["Store ID", "store-id", "STORE_ID", "StoreId", " store id ", "store\u00a0id", "store - id", "_store_ID"]
)
def test_case_spaces_underscores_and_hyphens_do_not_matter(name: str) -> None:
    assert store_columns([name]) == {"store_id": name}


@pytest.mark.parametrize("name", ["store.id", "store:id", "store/id", "stores_id", "id", "", "store_id\u200b"])
def test_any_other_difference_does(name: str) -> None:
    assert store_columns([name]) == {}


def test_the_exact_name_wins(tmp_path: Path) -> None:
    assert store_columns(["City", "city", "CITY"]) == {"city": "city"}
    loaded = load_stores(tmp_path, as_csv([store(City="Bo", CITY="By")], [*STORE_FIELDS, "City", "CITY"]))
    assert b'"city":"Ada"' in rows(loaded)[0]
    assert [warning.field for warning in loaded.report.warnings] == ["City", "CITY"]


HUMAN = ["Store ID", *REQUIRED[1:]]


def test_two_columns_alike_are_refused_and_both_named(tmp_path: Path) -> None:
    error = refusal(load_stores(tmp_path, as_csv([], [*HUMAN, "Postal-Code", "x", "POSTAL CODE"])))
    assert error.line == 1
    assert error.why == '"Postal-Code" and "POSTAL CODE" are both columns of postal_code: rename one'


@pytest.mark.parametrize("others", [["Postal-Code"], ["CITY ", "Postal-Code", "POSTAL CODE"], ["geometry.latitude"]])
@pytest.mark.parametrize("delimiter", [b",", b";"])
def test_names_are_exact_in_csv_if_those_of_all_required_columns_are(
    tmp_path: Path, others: list[str], delimiter: bytes
) -> None:
    records = [store(**dict.fromkeys(others, "1"))]
    loaded = load_stores(tmp_path / "loaded", as_csv(records, [*REQUIRED, *others]).replace(b",", delimiter))
    strict = load_stores(tmp_path / "strict", as_csv([store()], REQUIRED))
    assert rows(loaded) == rows(strict)
    assert [(each.code, each.field) for each in loaded.report.warnings] == [("unused", name) for name in others]


def test_missing_columns_are_refused_at_the_line_of_the_names() -> None:
    with pytest.raises(FileError) as refused:
        MappedRecords(Opened("Store ID", "company_id", "Town", "Address 1"), NO_MAPPING, STORES)
    hint = "; `store-directory mapping` proposes a mapping of other columns, `--mapping` uses it"
    assert (refused.value.line, refused.value.why) == (3, f"missing columns: city (rename 'Town'?), country{hint}")
    with pytest.raises(FileError, match=r"^missing columns: company_id, name$"):  # mappings are proposed for stores
        MappedRecords(Opened("domain"), NO_MAPPING, COMPANIES)


def test_records_are_by_field_and_fields_without_a_column_have_no_cells() -> None:
    records = MappedRecords(Opened("Company ID", "name", "more"), NO_MAPPING, COMPANIES)
    (batch,) = records.batches()
    assert {field: tuple(cells) for field, cells in batch.columns.items()} == {
        "company_id": ("Company ID", "Company ID"),
        "name": ("name", "name"),
        **dict.fromkeys(["domain", "parent_company_id", "created_at"], (None, None)),
    }
    assert (list(batch.numbers), batch.lines()) == ([1, 2], [4, 5])
    assert records.assumed == ["semicolons", 'columns "Company ID" → company_id']


FEATURE = ["feature.id", "geometry.latitude", "geometry.longitude"]


def test_the_identifier_and_the_location_of_a_feature_are_taken_if_no_column_is_named_like_them() -> None:
    taken = dict(zip(["store_id", "latitude", "longitude"], FEATURE, strict=True))
    assert store_columns(FEATURE) == taken
    assert store_columns([*FEATURE, "Store ID"]) == taken | {"store_id": "Store ID"}
    assert store_columns([*FEATURE, "Latitude"]) == {"store_id": "feature.id", "latitude": "Latitude"}
    assert columns_by_name(FEATURE, COMPANIES, COMPANY_FIELDS) == {}


def test_what_is_renamed_is_one_printable_line() -> None:
    names = [f"City{' ' * 300}", "COUN\x1bTRY", "country\n", "store_id"]
    (line,) = describe_renamed(store_columns(names))
    assert line.isprintable()
    assert line.endswith('country\\n" → country')
    assert len(line) < 300
    assert describe_renamed({"city": "city"}) == []


def test_required_columns_that_are_there_twice_are_not_found() -> None:
    found = partial(has_columns, mapping=NO_MAPPING, resource=STORES)
    assert found(REQUIRED)
    assert not found([*HUMAN[:-1], "Country", "COUNTRY"])
    assert not found(REQUIRED[:-1])

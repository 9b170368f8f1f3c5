"""A single data file, of any name, is the stores file; its companies are derived from it."""

from pathlib import Path

import pytest

from service.dataset import ReadOptions
from service.loading.dataset import Loaded, load
from tests.loading.data_files import (
    COMPANIES_FILE,
    STORE_FIELDS,
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    dataset,
    load_files,
    packed,
    refusal,
    rows,
    served,
    store,
)

STORES = [store("s1"), store("s2", company_id="c2"), store("s3"), store("s4", company_id="C1")]
NOTE = "companies: from company_id, named by company_name if there is one"


def load_single(folder: Path, content: bytes, name: str = "filialen.csv", **options: str) -> Loaded:
    file = folder / name
    file.write_bytes(content)
    return load(file, options=ReadOptions(**options))


def companies(loaded: Loaded) -> dict[str, str]:
    """Return the names of the loaded companies by identifier."""
    return {record["company_id"]: record["name"] for record in served(loaded, "companies")}


def written(records: list[Record], name: str) -> bytes:
    """Return records in the format and the compression of a name."""
    columns = [*STORE_FIELDS, "company_name"]
    name = name.lower()
    content = as_csv(records, columns) if "csv" in name else as_lines(records) if "l" in name else as_json(records)
    return packed(content, name)


NAMES = ["filialen.csv", "Filialen 2024.05.CSV.gz", "shops.json", "shops.jsonl.zst", "stores.csv", "x.JSON"]


@pytest.mark.parametrize("name", NAMES)
def test_a_single_file_of_any_name_and_format_gives_the_stores_of_a_folder(tmp_path: Path, name: str) -> None:
    loaded = load_single(tmp_path, written(STORES, name), name)
    named = [company(each, name=each) for each in ("c1", "c2", "C1")]
    expected = load_files(tmp_path / "folder", {"stores.json": as_json(STORES), "companies.json": as_json(named)})
    assert loaded.report.errors == []
    assert [each.code for each in loaded.report.warnings] == ["spelling"]  # c1 and C1 are two companies
    assert dataset(loaded).version == dataset(expected).version
    assert loaded.assumed == [f"{name}: {NOTE}"]


@pytest.mark.parametrize("name", ["filialen.csv", "shops.json", "shops.jsonl"])
def test_companies_are_named_by_a_column_of_the_first_record_with_each(tmp_path: Path, name: str) -> None:
    named = [
        store("s1", company_name="Acme"),
        store("s2", company_name="Other"),
        store("s3", company_id="c2", company_name=" "),
        store("s4", company_id="c3"),
    ]
    loaded = load_single(tmp_path, written(named, name), name)
    assert companies(loaded) == {"c1": "Acme", "c2": "c2", "c3": "c3"}
    assert loaded.report.warnings == []


def test_an_invalid_name_of_a_company_is_an_error_with_the_line_of_the_store(tmp_path: Path) -> None:
    stores = [store("s1"), store("s2"), store("s3", company_id="c2", company_name="\0")]
    loaded = load_single(tmp_path, as_csv(stores, [*STORE_FIELDS, "company_name"]))
    assert [(error.code, error.file, error.line, error.field) for error in loaded.report.errors] == [
        ("text", "filialen.csv", 4, "name"),
        ("company", "filialen.csv", 4, "company_id"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"store_id,city\n", "missing columns: company_id, address_1, country"),
        (b'store_id,company_id,address_1,city,country\n"', "truncated"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_error(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in refusal(load_single(tmp_path, content)).why


def test_other_columns_and_a_last_line_without_an_end_are_one_warning_each(tmp_path: Path) -> None:
    content = as_csv([store(company_name="Acme", zip="1")], [*STORE_FIELDS, "company_name", "zip"]).rstrip(b"\n")
    warnings = load_single(tmp_path, content).report.warnings
    assert [(warning.code, warning.field) for warning in warnings] == [("unused", "zip"), ("unterminated", None)]


def test_an_object_with_both_arrays_serves_as_both_files(tmp_path: Path) -> None:
    both = {"stores": [store()], "companies": [company(name="Acme & Sons", domain="acme.example"), company("c9")]}
    loaded = load_single(tmp_path, as_json(both), "export.json")
    assert companies(loaded) == {"c1": "Acme & Sons", "c9": "Acme"}
    assert not loaded.assumed
    missing = load_single(tmp_path, as_json(both | {"companies": [company("c9")]}), "export.json")
    assert [error.code for error in missing.report.errors] == ["company"]


def test_a_column_called_companies_is_no_array_of_companies(tmp_path: Path) -> None:
    loaded = load_single(tmp_path, as_json({"stores": [store()], "companies": "c1"}), "export.json")
    assert companies(loaded) == {"c1": "c1"}


def test_json_that_is_damaged_is_one_error_whatever_it_mentions(tmp_path: Path) -> None:
    for text in (b'{"stores": [], "companies": [}', b'{"companies": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"):
        assert refusal(load_single(tmp_path, text, "export.json")).file == "export.json"


def test_a_folder_without_a_companies_file_needs_a_mapping_that_derives_them(tmp_path: Path) -> None:
    files = {"stores.csv": as_csv(STORES)}
    assert refusal(load_files(tmp_path / "data", files)).file == "companies"
    mapped = load_files(tmp_path / "data", files | {"mapping.toml": b'[companies]\nfrom = "stores"\n'})
    assert companies(mapped) == {"c1": "c1", "c2": "c2", "C1": "C1"}


def test_a_companies_file_that_a_mapping_does_not_use_is_refused(tmp_path: Path) -> None:
    files = {"stores.csv": as_csv(STORES), "companies.csv": COMPANIES_FILE}
    error = refusal(load_files(tmp_path, files | {"mapping.toml": b'[companies]\nfrom = "stores"\n'}))
    why = "companies come from the mapping and from a file; remove one"
    assert (error.file, error.why) == ("companies.csv", why)


def test_an_option_replaces_the_mapping_beside_the_files(tmp_path: Path) -> None:
    files = {"stores.csv": as_csv(STORES), "mapping.toml": b"["}
    assert refusal(load_files(tmp_path / "data", files)).file == "mapping.toml"
    mapping = tmp_path / "other.toml"
    mapping.write_text('[companies]\nfrom = "stores"\n')
    assert load(tmp_path / "data", options=ReadOptions(mapping=str(mapping))).dataset is not None
    mapping.write_text("[")
    assert refusal(load(tmp_path / "data", options=ReadOptions(mapping=str(mapping)))).file == str(mapping)
    mapping.unlink()
    assert refusal(load(tmp_path / "data", options=ReadOptions(mapping=str(mapping)))).file == str(mapping)


def test_csv_in_a_declared_encoding_is_read_and_json_stays_utf_8(tmp_path: Path) -> None:
    records = [store(city="Köln")]
    latin = as_csv(records).decode().encode("cp1252")
    assert "Köln".encode() in rows(load_single(tmp_path, latin, encoding="windows-1252"))[0]
    assert "not UTF-8" in refusal(load_single(tmp_path, latin)).why
    assert "Köln".encode() in rows(load_single(tmp_path, as_json(records), "x.json", encoding="windows-1252"))[0]


def test_an_option_has_precedence_over_the_encoding_of_the_mapping(tmp_path: Path) -> None:
    text = as_csv([store(city="Köln")])
    latin = text.decode().encode("cp1252")
    (tmp_path / "mapping.toml").write_text('[stores]\nencoding = "windows-1252"\n')
    mapping = str(tmp_path / "mapping.toml")
    assert "Köln".encode() in rows(load_single(tmp_path, latin, mapping=mapping))[0]
    assert "KÃ¶ln".encode() in rows(load_single(tmp_path, text, mapping=mapping))[0]
    assert "Kצln".encode() in rows(load_single(tmp_path, latin, mapping=mapping, encoding="windows-1255"))[0]

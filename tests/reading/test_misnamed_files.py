"""A file with a wrong name or format is named with what to do."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.loading.dataset import load
from service.reading.files.misnamed_files import suggest_file_name
from tests.loading.data_files import COMPANIES_FILE, STORE_FIELDS, as_csv, load_companies, load_files, refusal, store

UNREAD = {
    "Stores.csv": "found 'Stores.csv': the name must be stores.csv, in lower case",
    "STORES.JSON.GZ": "found 'STORES.JSON.GZ': the name must be stores.json.gz, in lower case",
    "store.csv": "found 'store.csv': the name must be stores.csv",
    "stores (1).csv": "found 'stores (1).csv': the name must be stores.csv",
    "my-stores.2024.jsonl": "found 'my-stores.2024.jsonl': the name must be stores.jsonl",
    "store list.tsv": "found 'store list.tsv': the name must be stores.tsv",
    "stores (1).txt": "found 'stores (1).txt': the name must be stores.txt",
    "stores.xls": "found 'stores.xls': save it as an Excel workbook (.xlsx), and name it stores.xlsx",
    "Stores.XLSX": "found 'Stores.XLSX': the name must be stores.xlsx, in lower case",
    "stores.xml": "found 'stores.xml': save it as CSV UTF-8 (comma delimited), and name it stores.csv",
    "stores.zip": "found 'stores.zip': unpack it, or compress it with gzip (.gz) or Zstandard (.zst)",
    "stores.csv.bz2": "found 'stores.csv.bz2': unpack it, or compress it with gzip (.gz) or Zstandard (.zst)",
    "stores": "found 'stores': add the format to the name, as in stores.csv",
    "stores.gz": "found 'stores.gz': add the format to the name, as in stores.csv.gz",
    "Sto\nres.csv": "found 'Sto\\nres.csv': the name must be stores.csv",
}
OTHERS = ["stores.csv.part", "stores.csv~", ".stores.csv.swp", "stops.csv", "readme.txt", "company.csv"]


@pytest.mark.parametrize("name", UNREAD)
def test_a_misnamed_file_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    error = refusal(load_files(tmp_path, {"companies.csv": COMPANIES_FILE, name: b""}))
    assert (error.file, error.why) == ("stores", f"the file is missing: {UNREAD[name]}")


def test_a_singular_name_is_recognized(tmp_path: Path) -> None:
    assert (
        "found 'company.csv': the name must be companies.csv"
        in refusal(load_companies(tmp_path, b"", "company.csv")).why
    )


@pytest.mark.parametrize("name", OTHERS)
def test_unrelated_and_temporary_files_are_not_suggested(tmp_path: Path, name: str) -> None:
    assert "found" not in refusal(load_files(tmp_path, {"companies.csv": COMPANIES_FILE, name: b""})).why


@pytest.mark.parametrize(
    ("names", "which"),
    [
        (["filialen.csv"], "'filialen.csv'"),
        (["a.geojson", "b.parquet.gz", "notes.txt", "company.csv"], "one of 'a.geojson', 'b.parquet.gz'"),
        (["a.xlsx", "b.pdf"], "'a.xlsx'"),
        (["a.csv", "b.csv", "c.csv", "d.csv"], "one of 'a.csv', 'b.csv', 'c.csv', …"),
        (["Sto\n.csv"], r"'Sto\n.csv'"),
    ],
)
def test_data_files_of_other_names_can_be_served_by_themselves(tmp_path: Path, names: list[str], which: str) -> None:
    why = refusal(load_files(tmp_path, {"companies.csv": COMPANIES_FILE, **dict.fromkeys(names, b"")})).why
    assert why.endswith(f"; if the stores are in {which}, check and serve that file by itself")


def test_missing_companies_may_be_taken_from_the_stores(tmp_path: Path) -> None:
    why = refusal(load_files(tmp_path, {"stores.csv": as_csv([store()], STORE_FIELDS)})).why
    assert why.startswith("the file is missing: put companies.csv into the folder, or another format (json, ")
    assert why.endswith("; or let a mapping take the companies from the stores")


@given(st.text(st.characters(), max_size=12) | st.from_regex(r"[sS]tores?(\.[a-z0-9]+){0,3}"))
def test_any_name_gives_one_printable_line(name: str) -> None:
    assert suggest_file_name([name], "stores").isprintable()


def test_folders_are_not_suggested_and_a_correct_file_needs_no_suggestion(tmp_path: Path) -> None:
    (tmp_path / "Stores.csv").mkdir()
    (tmp_path / "companies.csv").write_bytes(COMPANIES_FILE)
    assert "found" not in refusal(load(tmp_path)).why
    files = {"companies.csv": COMPANIES_FILE, "stores.csv": as_csv([store()], STORE_FIELDS), "Stores.csv": b"x"}
    assert load_files(tmp_path / "both", files).report.errors == []

"""The files of a data set: they are found, or named if misnamed, and opened; their signature changes with them."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, strategies as st

from service.dataset import ReadOptions
from service.loading.dataset import load
from service.reading.files.container import data_signature, file_signature
from service.reading.files.data_files import read_dataset
from service.reading.files.file_names import suggest_file_name
from service.reading.formats.file_format import FORMATS
from tests.loading.data_files import COMPANIES_FILE, as_csv, as_json, load_companies, load_files, refusal, rows, store

STORES_FILE = as_csv([store()])
BOTH = {"companies.csv": COMPANIES_FILE, "stores.csv": STORES_FILE}


def test_what_is_missing_is_called_neither_a_file_nor_a_folder(tmp_path: Path) -> None:
    for name in ("a.zip", "a.csv.gz", "a"):
        error = refusal(load(tmp_path / name))
        assert (error.file, error.why) == (str(tmp_path / name), "there is no such file or folder")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("nul\0", "x" * 300, "circle"):
        assert refusal(load(tmp_path / name)).file == str(tmp_path / name)


LISTED: Final = f"a data set is a folder with stores and companies, a file of stores ({', '.join(FORMATS)})"
UNKNOWN: Final = f"the file name has no known extension: {LISTED} or a zip archive"
OLD: Final = "files of this format are not read: save it as an Excel workbook (.xlsx)"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, UNKNOWN) for name in ("stores", "stores.pdf", "stores.csv.bz2", ".csv")),
        *((name, OLD) for name in ("stores.xls", "Filialen.XLSB")),
    ],
)
def test_the_error_for_another_file_says_what_to_do(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    error = refusal(load(tmp_path / name))
    assert (error.file, error.why) == (str(tmp_path / name), why)


def test_an_empty_folder_has_one_error_for_each_file(tmp_path: Path) -> None:
    assert [error.file for error in load(tmp_path).report.errors] == ["companies", "stores"]


def test_a_pipe_and_a_dangling_link_are_refused_without_blocking(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "stores.csv")
    (tmp_path / "other").mkdir()
    assert [error.file for error in load(tmp_path).report.errors] == ["companies.csv", "stores.csv"]


def test_a_mounted_volume_is_read_from_the_folder_that_its_link_resolves_to(tmp_path: Path) -> None:
    load_files(tmp_path / "..new", BOTH)
    (tmp_path / "..data").symlink_to("..new")
    for name in BOTH:  # the links of another moment, as between two reads while the volume changes
        (tmp_path / name).symlink_to(Path("..old") / name)
    assert len(rows(load(tmp_path))) == 1
    (link := tmp_path.with_name(f"{tmp_path.name}-link")).symlink_to(tmp_path)
    assert len(rows(load(link))) == 1


def test_files_changed_since_their_signature_are_refused_unless_a_manifest_lists_them(tmp_path: Path) -> None:
    load_files(tmp_path, BOTH)
    seen = data_signature(tmp_path).fingerprint
    assert read_dataset(tmp_path, fingerprint=seen).errors == []
    (tmp_path / "stores.csv").write_bytes(STORES_FILE + b"\n")
    (error,) = read_dataset(tmp_path, fingerprint=seen).errors
    assert (error.code, error.why) == ("file", "the files changed while they were read")
    listed = {name: {"sha256": sha256((tmp_path / name).read_bytes()).hexdigest(), "records": 1} for name in BOTH}
    (tmp_path / "manifest.json").write_bytes(as_json({"files": listed}))
    assert read_dataset(tmp_path, fingerprint=seen).errors == []
    (tmp_path / "mapping.toml").write_bytes(b"")  # which the manifest does not prove
    (error,) = read_dataset(tmp_path, fingerprint=seen).errors
    assert error.why == "the files changed while they were read"


FILES = {"companies.csv": COMPANIES_FILE, "stores.jsonl": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_files(tmp_path / "data", FILES)
    return tmp_path / "data"


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda folder: (folder / "stores.jsonl").write_bytes(b"\n"),
    "as long as it was": lambda folder: (folder / "companies.csv").write_bytes(COMPANIES_FILE),
    "added": lambda folder: (folder / "manifest.json").write_bytes(b"{}"),
    "removed": lambda folder: (folder / "stores.jsonl").unlink(),
    "renamed": lambda folder: (folder / "stores.jsonl").rename(folder / "stores.ndjson"),
    "a link to nowhere": lambda folder: (folder / "stores.json").symlink_to("gone"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_data_file_changes_the_fingerprint(folder: Path, change: Callable[[Path], object]) -> None:
    before = data_signature(folder)
    os.utime(folder / "companies.csv", ns=(1, 1))  # a clock that stands still hides no change
    before = data_signature(folder)
    change(folder)
    assert data_signature(folder).fingerprint != before.fingerprint


def test_other_files_in_the_folder_do_not_change_the_fingerprint(folder: Path) -> None:
    before = data_signature(folder)
    (folder / "README.txt").write_text("hello")
    assert data_signature(folder).fingerprint == before.fingerprint


def test_a_manifest_or_checksums_verify_files_which_settle_sooner_but_no_mapping(folder: Path, tmp_path: Path) -> None:
    unverifiable = data_signature(folder)
    assert not unverifiable.verifiable
    assert not data_signature(folder / "companies.csv").verifiable
    (folder / "manifest.json").write_bytes(b"{}")
    (archive := tmp_path / "data.zip").write_bytes(b"")
    (mapping := tmp_path / "mine.toml").write_bytes(b"")
    assert file_signature(folder / "stores.baked").verifiable
    for data in (folder, archive):
        assert data_signature(data).quiet_seconds < unverifiable.quiet_seconds
        assert data_signature(data, ReadOptions(mapping="overture")).verifiable
        assert not data_signature(data, ReadOptions(mapping=str(mapping))).verifiable
    (folder / "mapping.toml").write_bytes(b"")
    assert not data_signature(folder).verifiable
    assert data_signature(folder, ReadOptions(mapping="overture")).verifiable


def test_an_unreadable_folder_has_a_signature_and_no_data(folder: Path, tmp_path: Path) -> None:
    looks = [data_signature(tmp_path / name) for name in ("gone", "nul\0", "x" * 300)]
    assert len({look.fingerprint for look in looks}) == 1
    assert looks[0].fingerprint != data_signature(folder).fingerprint
    assert not looks[0].verifiable


def test_replacing_or_removing_a_file_changes_its_fingerprint(tmp_path: Path) -> None:
    file, beside = tmp_path / "set.baked", tmp_path / "beside"
    looks = [file_signature(file).fingerprint]
    for content in (b"one", b"two"):
        beside.write_bytes(content)
        beside.replace(file)
        looks.append(file_signature(file).fingerprint)
    assert len(set(looks)) == 3


def test_a_mapping_changes_the_fingerprint_of_a_folder_a_file_and_an_archive(folder: Path, tmp_path: Path) -> None:
    mapping, beside = tmp_path / "other.toml", folder / "mapping.toml"
    options = ReadOptions(mapping=str(mapping))
    for path in (folder, folder / "companies.csv", tmp_path / "data.zip"):
        looks = [data_signature(path, options).fingerprint]
        for content in ("one", "other"):
            mapping.write_text(content)
            looks.append(data_signature(path, options).fingerprint)
        mapping.unlink()
        assert len(set(looks)) == (3 if path.exists() else 1)
    before = data_signature(folder).fingerprint, data_signature(folder, options).fingerprint
    beside.write_text("one")
    assert data_signature(folder).fingerprint != before[0]
    assert data_signature(folder, ReadOptions(mapping=str(beside))).fingerprint != before[1]


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


def test_missing_companies_may_be_taken_from_the_stores_or_have_a_singular_name(tmp_path: Path) -> None:
    why = refusal(load_companies(tmp_path, b"", "company.csv")).why
    assert "found 'company.csv': the name must be companies.csv" in why
    why = refusal(load_files(tmp_path, {"stores.csv": as_csv([store()])})).why
    assert why.startswith("the file is missing: put companies.csv into the folder, or another format (json, ")
    assert why.endswith("; or let a mapping take the companies from the stores")


@given(st.text(st.characters(), max_size=12) | st.from_regex(r"[sS]tores?(\.[a-z0-9]+){0,3}"))
def test_any_name_gives_one_printable_line(name: str) -> None:
    assert suggest_file_name([name], "stores").isprintable()


def test_folders_are_not_suggested_and_a_correct_file_needs_no_suggestion(tmp_path: Path) -> None:
    (tmp_path / "Stores.csv").mkdir()
    (tmp_path / "companies.csv").write_bytes(COMPANIES_FILE)
    assert "found" not in refusal(load(tmp_path)).why
    files = {"companies.csv": COMPANIES_FILE, "stores.csv": as_csv([store()]), "Stores.csv": b"x"}
    assert load_files(tmp_path / "both", files).report.errors == []

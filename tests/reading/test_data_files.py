"""Finding and reading the files of a data set in its folder."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from service.loading.dataset import load
from service.reading.files.data_files import read_dataset
from service.reading.files.data_signature import data_signature
from service.reading.formats.file_format import FORMATS
from tests.loading.data_files import COMPANIES_FILE, STORE_FIELDS, as_csv, as_json, load_files, refusal, rows, store

STORES_FILE = as_csv([store()], STORE_FIELDS)
BOTH = {"companies.csv": COMPANIES_FILE, "stores.csv": STORES_FILE}


def test_a_missing_folder_is_one_error(tmp_path: Path) -> None:
    for folder in (tmp_path / "gone", tmp_path / "nul\0", tmp_path / ("x" * 300)):
        assert refusal(load(folder)).file == str(folder)


def test_a_file_instead_of_a_folder_and_a_cycle_of_links_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")

    assert refusal(load(tmp_path / "file")).file.endswith("file")
    assert refusal(load(tmp_path / "circle")).file.endswith("circle")


@pytest.mark.parametrize("name", ["stores", "stores.pdf", "stores.csv.bz2", ".csv"])
def test_the_error_for_another_file_lists_what_a_dataset_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(STORES_FILE)
    error = refusal(load(tmp_path / name))

    assert error.file == str(tmp_path / name)
    assert error.why == (
        "the file name has no known extension: a data set is a folder with stores and companies, "
        f"a file of stores ({', '.join(FORMATS)}) or a zip archive"
    )


@pytest.mark.parametrize("name", ["stores.xls", "Filialen.XLSB"])
def test_the_error_for_a_spreadsheet_says_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    why = "the file name has no known extension: save it as an Excel workbook (.xlsx)"
    assert refusal(load(tmp_path / name)).why == why


@pytest.mark.parametrize("kind", ["stores", "companies"])
def test_the_error_for_a_missing_file_lists_its_possible_names(tmp_path: Path, kind: str) -> None:
    others = {name: content for name, content in BOTH.items() if not name.startswith(kind)}
    error = refusal(load_files(tmp_path, others | {"readme.txt": b""}))

    assert error.file == kind
    assert f"{kind}.csv" in error.why


def test_an_empty_folder_has_one_error_for_each_file(tmp_path: Path) -> None:
    assert [error.file for error in load(tmp_path).report.errors] == ["companies", "stores"]


def test_a_pipe_is_refused_without_blocking(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").mkdir()
    os.mkfifo(tmp_path / "stores.csv")
    (tmp_path / "other").mkdir()

    assert [error.file for error in load(tmp_path).report.errors] == ["companies.csv", "stores.csv"]


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    load_files(tmp_path, {"companies.csv": COMPANIES_FILE})
    (tmp_path / "stores.csv").symlink_to(tmp_path / "gone")

    assert refusal(load(tmp_path)).file == "stores.csv"


def test_a_mounted_volume_is_read_from_the_folder_that_its_link_resolves_to(tmp_path: Path) -> None:
    load_files(tmp_path / "..new", BOTH)
    (tmp_path / "..data").symlink_to("..new")
    for name in BOTH:  # the links of another moment, as between two reads while the volume changes
        (tmp_path / name).symlink_to(Path("..old") / name)

    assert len(rows(load(tmp_path))) == 1


def test_a_link_to_the_folder_is_followed(tmp_path: Path) -> None:
    load_files(tmp_path / "real", BOTH)
    (tmp_path / "link").symlink_to("real")

    assert len(rows(load(tmp_path / "link"))) == 1


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


def test_what_is_missing_is_a_file_if_it_is_named_like_one(tmp_path: Path) -> None:
    for name, kind in (("a.zip", "file"), ("a.csv.gz", "file"), ("a", "folder")):
        assert refusal(load(tmp_path / name)).why == f"the {kind} cannot be read: No such file or directory"

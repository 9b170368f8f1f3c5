"""The fingerprint of files changes whenever their content may have changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from service.dataset import ReadOptions
from service.reading.files.data_signature import data_signature, file_signature
from tests.loading.data_files import COMPANIES_FILE, load_files

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


def test_only_a_manifest_makes_files_verifiable(folder: Path) -> None:
    assert not data_signature(folder).verifiable
    (folder / "manifest.json").write_bytes(b"{}")
    assert data_signature(folder).verifiable
    assert file_signature(folder / "stores.baked").verifiable


def test_nothing_verifies_a_mapping(folder: Path, tmp_path: Path) -> None:
    (folder / "manifest.json").write_bytes(b"{}")
    (archive := tmp_path / "data.zip").write_bytes(b"")
    (mapping := tmp_path / "mine.toml").write_bytes(b"")
    for data in (folder, archive):
        assert data_signature(data, ReadOptions(mapping="overture")).verifiable
        assert not data_signature(data, ReadOptions(mapping=str(mapping))).verifiable
    (folder / "mapping.toml").write_bytes(b"")
    assert not data_signature(folder).verifiable
    assert data_signature(folder, ReadOptions(mapping="overture")).verifiable


def test_files_that_can_be_verified_are_waited_for_less_long(folder: Path) -> None:
    unverifiable = data_signature(folder)
    (folder / "manifest.json").write_bytes(b"{}")
    assert data_signature(folder).quiet_seconds < unverifiable.quiet_seconds


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


def test_an_archive_is_verifiable_and_a_single_file_is_not(tmp_path: Path) -> None:
    for name, verifiable in (("data.zip", True), ("stores.csv", False)):
        (tmp_path / name).touch()
        assert data_signature(tmp_path / name).verifiable is verifiable

"""The command that reports more about a refused data set."""

from pathlib import Path

import pytest

from service.loading.acceptance import Cause
from service.loading.advice import advice
from service.reading.read_options import ReadOptions


def test_the_advice_for_a_refused_folder_is_to_check_it(tmp_path: Path) -> None:
    (tmp_path / "it's data").mkdir()
    check = f"`store-directory check '{tmp_path}/it'\"'\"'s data'` reports every error"
    assert advice(f"{tmp_path}/it's data", Cause.FILE) == check
    assert advice(f"{tmp_path}/it's data", Cause.RECORDS) == f"{check}; `--invalid skip` skips invalid records"


def test_there_is_no_advice_for_a_limit(tmp_path: Path) -> None:
    assert advice(str(tmp_path), Cause.LIMIT) == ""


@pytest.mark.parametrize("source", ["https://origin.example/set.baked", "/dev/null", "nowhere", "x" * 300, "nul\0"])
def test_there_is_no_advice_unless_the_source_is_a_folder(source: str) -> None:
    assert advice(source, Cause.FILE) == ""


@pytest.mark.parametrize("name", ["filialen.csv", "filialen.CSV.gz", "data.zip"])
def test_a_data_file_and_an_archive_are_checked_with_the_options_that_read_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    options = ReadOptions(mapping="my mapping.toml", encoding="cp1252")
    given = "--mapping 'my mapping.toml' --encoding cp1252"
    assert advice(f"{tmp_path}/{name}", Cause.FILE, options).startswith(
        f"`store-directory check {tmp_path}/{name} {given}` "
    )

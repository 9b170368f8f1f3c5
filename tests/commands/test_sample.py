"""`store-directory sample`."""

from pathlib import Path

import pytest

from tests.program import run, run_here, usage


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_a_sample_is_valid(tmp_path: Path, form: str) -> None:
    ended = run_here("sample", tmp_path, "--stores", "300", "--companies", "20", "--seed", "7", "--format", form)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"companies.{form}", f"stores.{form}"]
    checked = run_here("check", tmp_path)
    shown, *stores, unlocated, totals = checked.stdout.splitlines()
    heading = "the first stores in the default order, by created_at, as they are served:"
    assert (checked.returncode, shown, stores.count("")) == (0, heading, 2)
    assert unlocated.endswith(" of 300 stores without a location")
    assert totals == "300 stores and 20 companies can be served; 0 invalid records, 0 repeated"


def test_an_existing_dataset_is_not_overwritten(tmp_path: Path) -> None:
    assert run_here("sample", tmp_path, "--stores", "3", "--companies", "2").returncode == 0
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    ended = run_here("sample", tmp_path, "--stores", "4", "--companies", "2")
    assert ended.returncode == 1
    assert "stores.json" in ended.stderr or "companies.json" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--stores", "-1"], ["--companies", "-1"], ["--seed", "-1"], ["--seed", "x"]),
        *(["--stores", "1" + 26 * "0"], ["--companies", "1" + 26 * "0"], ["--stores", "5", "--companies", "0"]),
    ],
)
def test_invalid_numbers_exit_with_2_and_nothing_is_written(tmp_path: Path, arguments: list[str]) -> None:
    assert usage("sample", tmp_path / "new", *arguments).exit_code == 2
    assert not (tmp_path / "new").exists()


@pytest.mark.process
def test_a_folder_that_cannot_be_created_exits_with_1_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = run("sample", tmp_path / "file" / "folder", "--stores", "3")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr

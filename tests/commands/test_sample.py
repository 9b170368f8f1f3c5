"""`store-directory sample`."""

from pathlib import Path

import pytest

from tests.program import run, run_here, usage


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_a_sample_is_written_and_sound(tmp_path: Path, form: str) -> None:
    ended = run_here("sample", tmp_path, "--stores", "300", "--companies", "20", "--seed", "7", "--format", form)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"companies.{form}", f"stores.{form}"]
    checked = run_here("check", tmp_path)
    assert (checked.returncode, checked.stdout) == (
        0,
        "300 stores and 20 companies can be served; 0 invalid records, 0 repeated\n",
    )


def test_a_data_set_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    assert run_here("sample", tmp_path, "--stores", "3", "--companies", "2").returncode == 0
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    ended = run_here("sample", tmp_path, "--stores", "4", "--companies", "2")
    assert ended.returncode == 1
    assert "stores.json" in ended.stderr or "companies.json" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("arguments", [["--stores", "-1"], ["--stores", "5", "--companies", "0"], ["--seed", "x"]])
def test_numbers_that_make_no_sense_are_exit_2(tmp_path: Path, arguments: list[str]) -> None:
    assert usage("sample", tmp_path, *arguments).exit_code == 2


def test_a_folder_that_cannot_be_made_is_exit_1_and_a_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = run("sample", tmp_path / "file" / "folder", "--stores", "3")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr

"""`store-directory sample`."""

from pathlib import Path

import pytest

from tests.program import run, run_here, usage


def test_a_sample_is_valid_of_the_numbers_and_in_the_format_of_its_options(tmp_path: Path) -> None:
    ended = run_here("sample", tmp_path, "--stores", "300", "--companies", "20", "--seed", "7", "--format", "jsonl")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["companies.jsonl", "stores.jsonl"]
    checked = run_here("check", tmp_path)
    totals = "300 stores and 20 companies can be served; 0 invalid records, 0 repeated"
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, totals)


def test_an_existing_dataset_exits_with_1_without_a_traceback(tmp_path: Path) -> None:
    ended = [run_here("sample", tmp_path, "--stores", count, "--companies", "2") for count in ("3", "4")]
    assert [each.returncode for each in ended] == [0, 1]
    assert ended[1].stderr.startswith("Error: ")


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

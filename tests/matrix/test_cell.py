"""The result of a matrix cell, with a fake uv that creates environments with a fake pytest."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.matrix.cell import LATEST, LOWEST, Cell, Result, run_cell
from tests.matrix.dependencies import lower_bounds, package, requirements
from tests.matrix.pythons import Python
from tests.matrix.report import passed, report

LOWEST_RELEASES = {package(each): str(*lower_bounds(each)) for each in requirements()}
NAME, BOUND = next(iter(LOWEST_RELEASES.items()))
# What it was asked is kept; the environment is the last argument of `venv`.
UV = """#!/bin/sh
echo "$@" >> "{asked}"
case "$1 $2" in
"venv "*)
    for made; do :; done
    mkdir -p "$made/bin" && cp "{python}" "$made/bin/python" ;;
"pip list") echo '{listed}' ;;
"pip install") exit {installed} ;;
esac
"""
PYTEST = """#!/bin/sh
echo "$@"
echo '{line}'
exit {code}
"""
Runs = Callable[..., Result]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Return what runs a cell, with an installation and tests that end as given."""

    def run(
        resolution: str = LOWEST,
        *,
        line: str = "3 passed in 1.20s",
        code: int = 0,
        release: str = BOUND,
        installed: int = 0,
    ) -> Result:
        python, uv, asked = (tmp_path / name for name in ("python", "uv", "asked"))
        python.write_text(PYTEST.format(line=line, code=code))
        packages = [{"name": name, "version": version} for name, version in {**LOWEST_RELEASES, NAME: release}.items()]
        listed = orjson.dumps(packages).decode()
        uv.write_text(UV.format(asked=asked, python=python, listed=listed, installed=installed))
        for program in (python, uv):
            program.chmod(0o755)
        cell = Cell(Python("3.12.1", "/twelve"), resolution)
        return run_cell(cell, ["-n", "4"], home=tmp_path / "home", uv=[str(uv)])

    return run


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("3841 passed, 2 skipped in 274.42s (0:04:34)", "3841 passed, 2 skipped"),
        ("===== 1 passed in 0.01s =====", "1 passed"),
        ("nothing of that kind", "no counts"),
    ],
)
def test_a_cell_that_passes_has_its_counts_and_no_error(runs: Runs, line: str, counts: str) -> None:
    result = runs(line=line)
    assert (result.tests, result.errors, result.releases) == (counts, [], LOWEST_RELEASES)
    assert passed([result])


@pytest.mark.process
def test_a_cell_whose_tests_fail_is_an_error(runs: Runs) -> None:
    result = runs(line="1 failed, 3 passed in 1.20s", code=1)
    assert (result.tests, result.errors) == ("1 failed, 3 passed", ["pytest ended with 1"])
    assert not passed([runs(), result])


@pytest.mark.process
def test_a_cell_that_cannot_be_installed_is_an_error_and_runs_no_test(
    runs: Runs, capfd: pytest.CaptureFixture[str]
) -> None:
    result = runs(installed=2)
    assert (result.tests, result.errors) == ("not installed", ["uv pip ended with 2"])
    assert not passed([result])
    assert "passed" not in capfd.readouterr().out


@pytest.mark.process
def test_a_package_above_its_lower_bound_is_an_error_of_the_lowest_alone(runs: Runs) -> None:
    assert runs(LOWEST, release="999").errors == [f"{NAME} is 999, not {BOUND}, its lower bound"]
    assert runs(LATEST, release="999").errors == []


@pytest.mark.process
@pytest.mark.parametrize(("resolution", "asked"), [(LOWEST, "lowest-direct"), (LATEST, "highest")])
def test_an_environment_is_made_with_the_python_and_has_wheels_of_that_end_of_the_bounds(
    runs: Runs, tmp_path: Path, resolution: str, asked: str
) -> None:
    runs(resolution)
    made, installed, *_ = (tmp_path / "asked").read_text().splitlines()
    assert "--python /twelve" in made
    assert all(f" {option} " in f"{installed} " for option in ("--no-build", f"--resolution {asked}", "--extra redis"))


@pytest.mark.process
def test_what_pytest_prints_is_printed_and_it_has_the_options(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    runs()
    assert capfd.readouterr().out == "-m pytest -n 4\n3 passed in 1.20s\n"


def test_a_matrix_without_a_cell_did_not_pass() -> None:
    assert not passed([])


@pytest.mark.process
def test_the_report_has_the_releases_the_errors_and_last_a_line_for_each_cell(runs: Runs) -> None:
    printed = report([runs(), runs(LATEST, release="999", line="1 failed in 1s", code=1)])
    releases, errors, outcomes = printed.strip("\n").split("\n\n")
    name, _, *found = releases.splitlines()[1].split()
    assert (name, found) == (NAME, [BOUND, "999"])
    assert errors == "3.12.1 latest: pytest ended with 1"
    assert [line.split() for line in outcomes.splitlines()] == [
        ["Python", "releases", "tests", "seconds"],
        ["3.12.1", "lowest", "3", "passed", "0"],
        ["3.12.1", "latest", "1", "failed", "0"],
    ]

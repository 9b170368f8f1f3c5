"""`.venv` is made with a Python that is new enough, and again if that Python changes or disappears."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.program import SECONDS

ROOT = Path(__file__).parents[1]
MADE = ".venv/pyvenv.cfg"
# A program that claims to be some version of Python, and makes environments with itself as their Python.
PYTHON = """#!/bin/sh
if [ "$1" = -m ]; then
    rm -rf .venv && mkdir -p .venv/bin && cp "$0" .venv/bin/python && touch .venv/pyvenv.cfg
    exit {code}
fi
exec {python} -c 'import sys
sys.version_info, sys.version, sys.base_prefix = {version}, "{written} (a fake)", "{name}"
exec(sys.argv[1])' "$2"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def python(checkout: Path, name: str, version: tuple[int, int, int] = (3, 12, 0), *, code: int = 0) -> str:
    """Write a fake Python whose `-m venv` exits with a code; return the argument that names it to make."""
    written = ".".join(map(str, version))
    program = checkout / name
    program.write_text(PYTHON.format(name=name, python=sys.executable, version=version, written=written, code=code))
    program.chmod(0o755)
    return f"PYTHON={program}"


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make without a Python named in the environment."""
    command = ["env", "-u", "PYTHON", "-u", "MAKEFLAGS", "make", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def makes(checkout: Path, *arguments: str) -> bool:
    """Return whether make makes `.venv` anew, after which it is there."""
    mark = checkout / ".venv" / "mark"
    if mark.parent.exists():
        mark.touch()
    ended = make(checkout, MADE, *arguments)
    assert (ended.returncode, (checkout / MADE).exists()) == (0, True), ended.stderr
    return not mark.exists()


@pytest.mark.process
def test_it_is_made_once_and_again_for_another_python_or_one_that_is_gone_or_too_old(checkout: Path) -> None:
    one, other = python(checkout, "one"), python(checkout, "other", (3, 13, 1))
    assert [makes(checkout, named) for named in (one, one, other, other, one)] == [True, False, True, False, True]
    assert not makes(checkout)  # an existing one is used
    (checkout / ".venv" / "bin" / "python").unlink()
    assert makes(checkout, one)
    python(checkout / ".venv" / "bin", "python", (3, 10, 13))
    assert makes(checkout, one)


@pytest.mark.process
def test_packages_are_installed_again_into_a_new_one(checkout: Path) -> None:
    one, other = python(checkout, "one"), python(checkout, "other")
    assert makes(checkout, one)
    (checkout / ".venv" / "developed").touch()
    assert "pip install" not in make(checkout, "--dry-run", "test", one).stdout
    assert "pip install" in make(checkout, "--dry-run", "test", other).stdout


@pytest.mark.process
@pytest.mark.parametrize("target", ["serve", "test"])
def test_a_python_that_is_too_old_is_one_clear_error_and_changes_nothing(checkout: Path, target: str) -> None:
    old = python(checkout, "old", (3, 10, 13))
    ended = make(checkout, target, old)
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "Python 3.10.13 is too old: 3.11 or later is needed. Name another, as in: make PYTHON=python3.13\n"
    )
    assert not (checkout / ".venv").exists()
    assert makes(checkout, python(checkout, "one"))
    assert make(checkout, target, old).returncode == 2
    assert (checkout / MADE).exists()


@pytest.mark.process
def test_a_failed_attempt_leaves_nothing_behind(checkout: Path) -> None:
    assert make(checkout, MADE, python(checkout, "broken", code=1)).returncode == 2
    assert not (checkout / ".venv").exists()


def test_the_oldest_python_is_that_of_the_project(checkout: Path) -> None:
    oldest = re.search(r"^OLDEST := (\d+), (\d+)$", (checkout / "Makefile").read_text(), re.MULTILINE)
    assert oldest is not None
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={oldest[1]}.{oldest[2]}"


def test_what_is_mutated_and_its_tests_exist() -> None:
    mutation = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    named = [*mutation["only_mutate"], *mutation["pytest_add_cli_args_test_selection"]]
    assert [name for name in named if not any(ROOT.glob(name))] == []

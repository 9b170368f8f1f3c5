"""One cell of the matrix: the tests with one Python, at the lowest or the latest release of every dependency."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec
from packaging.utils import canonicalize_name

from tests.matrix.dependencies import EXTRAS, FILE, not_at_lower_bound, of_python, requirements
from tests.matrix.pythons import Python

LOWEST: Final = "lowest"
LATEST: Final = "latest"
# What uv calls them. What the dependencies need in turn is the latest in both.
RESOLUTIONS: Final = {LOWEST: "lowest-direct", LATEST: "highest"}

_ROOT: Final = FILE.parent
_HOME: Final = _ROOT / ".matrix"
_UV: Final = (sys.executable, "-m", "uv")
_COUNTS: Final = re.compile(r"[= ]*(\d+ \w+(?:, \d+ \w+)*) in \d+")


class Cell(msgspec.Struct, frozen=True):
    """A cell of the matrix: a Python, and `LOWEST` or `LATEST`."""

    python: Python
    resolution: str


class _Package(msgspec.Struct):
    name: str
    version: str


class Result(msgspec.Struct, frozen=True):
    """The result of a cell.

    releases  the release of each installed package, by normalized name
    tests     pytest's counts, or why there are none
    errors    what makes the cell fail; empty where it passed
    seconds   how long it took, installation included
    """

    cell: Cell
    releases: Mapping[str, str]
    tests: str
    errors: Sequence[str]
    seconds: float


def run_cell(cell: Cell, options: Sequence[str], *, home: Path = _HOME, uv: Sequence[str] = _UV) -> Result:
    """Make the environment of a cell below `home`, run pytest in it with some options, and print what both print."""
    began = monotonic()
    python = home / f"{cell.python.release}-{cell.resolution}" / "bin" / "python"
    try:
        releases = _install(cell, python, uv)
    except subprocess.CalledProcessError as error:
        failed = f"uv {error.cmd[len(uv)]} ended with {error.returncode}"
        return Result(cell, {}, "not installed", [failed], monotonic() - began)
    code, tests = _run_tests(python, options)
    errors = [f"pytest ended with {code}"] if code else []
    if cell.resolution == LOWEST:
        errors += not_at_lower_bound(of_python(requirements(), cell.python.release), releases)
    return Result(cell, releases, tests, errors, monotonic() - began)


def _install(cell: Cell, python: Path, uv: Sequence[str]) -> Mapping[str, str]:
    """Make the environment of a Python anew, and return the releases of the packages in it."""

    def run(*arguments: str | Path) -> str:
        command = [*uv, *map(str, arguments)]
        return subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout

    def install(*arguments: str | Path) -> None:
        run("pip", "install", "--quiet", "--python", python, *arguments)

    run("venv", "--quiet", "--clear", "--no-python-downloads", "--python", cell.python.program, python.parents[1])
    extras = [option for extra in EXTRAS for option in ("--extra", extra)]
    # Wheels only: to compile numpy would take longer than the tests, and few can use a release that has none.
    install("--no-build", "--resolution", RESOLUTIONS[cell.resolution], "--requirement", FILE, *extras)
    listed = run("pip", "list", "--quiet", "--format", "json", "--python", python)
    install("--no-deps", "--editable", _ROOT)
    return {canonicalize_name(each.name): each.version for each in msgspec.json.decode(listed, type=list[_Package])}


def _run_tests(python: Path, options: Sequence[str]) -> tuple[int, str]:
    """Run pytest; return its exit code, and the counts of its last line."""
    last = ""
    with subprocess.Popen([python, "-m", "pytest", *options], cwd=_ROOT, stdout=subprocess.PIPE, text=True) as tests:
        for line in tests.stdout or ():
            print(line, end="", flush=True)  # noqa: T201 - as pytest itself would
            last = line
    counts = _COUNTS.match(last)
    return tests.returncode, counts[1] if counts else "no counts"

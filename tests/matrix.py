"""Run the tests at the lowest and the latest release of every dependency, on every Python there is: `make matrix`."""

import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from shutil import which
from typing import Final

import click
import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# As uv calls them. What the dependencies need in turn is the latest in both.
RESOLUTIONS: Final = {"lowest": "lowest-direct", "latest": "highest"}
EXTRAS: Final = ("dev", "redis")  # what the tests need beside the dependencies
_PYTHON: Final = "Programming Language :: Python :: 3."
_UV: Final = (sys.executable, "-m", "uv")


class _Package(msgspec.Struct):
    name: str
    version: str


@click.command()
@click.option("--only", "ends", multiple=True, type=click.Choice(list(RESOLUTIONS)), help="One end of the bounds.")
@click.option("--pytest", "options", multiple=True, help="Options of pytest, or the tests to run.")
@click.argument("pythons", metavar="[PYTHON]...", nargs=-1)
def main(ends: Sequence[str], options: Sequence[str], pythons: Sequence[str]) -> None:
    """Run the tests with each PYTHON, by default all that there are, at both ends of the bounds of pyproject.toml.

    End with 1 where a cell failed.
    """
    words = [word for option in options for word in shlex.split(option)]
    cells = list(product(pythons or list(_pythons()), ends or RESOLUTIONS))
    errors = [list(_errors(python, end, words)) for python, end in cells]
    for (python, end), found in zip(cells, errors, strict=True):
        click.echo(f"{python}, {end} releases: {'; '.join(found) or 'no error'}")
    sys.exit(not cells or any(errors))


def _pythons() -> Iterator[str]:
    """Yield the paths of the Pythons of the classifiers that uv finds, the oldest first."""
    for classifier in PROJECT["classifiers"]:
        if classifier.startswith(_PYTHON):
            found = _uv("python", "find", "--system", f"3.{classifier.removeprefix(_PYTHON)}", check=False)
            yield from found.split()


def _errors(python: str, end: str, options: Sequence[str]) -> Iterator[str]:
    """Make the environment of a cell in `.matrix`, run pytest in it, and yield what makes the cell fail."""
    environment = ROOT / ".matrix" / f"{python.strip('./').replace('/', '-')}-{end}"
    try:
        _uv("venv", "--quiet", "--clear", "--python", python, environment)
        extras = [option for extra in EXTRAS for option in ("--extra", extra)]
        # Wheels only: to compile numpy would take longer than the tests, and few can use a release that has none.
        bounds = ("--resolution", RESOLUTIONS[end], "--requirement", "pyproject.toml")
        _uv("pip", "install", "--python", environment, "--no-build", *bounds, *extras)
        listed = _uv("pip", "list", "--format", "json", "--python", environment)
        _uv("pip", "install", "--quiet", "--python", environment, "--no-deps", "--editable", ROOT)
    except subprocess.CalledProcessError as error:
        yield f"uv {error.cmd[len(_UV)]} ended with {error.returncode}"
        return
    program = environment / "bin" / "python"
    if code := subprocess.call([program, "-m", "pytest", *options], cwd=ROOT):
        yield f"pytest ended with {code}"
    if end == "lowest":
        packages = msgspec.json.decode(listed, type=list[_Package])
        releases: dict[str, str] = {canonicalize_name(each.name): each.version for each in packages}
        yield from not_at_lower_bound(
            requirements(subprocess.check_output([program, "-V"], text=True).split()[1]), releases
        )


def requirements(python: str) -> list[Requirement]:
    """Return the requirements that the tests run with, on a release of Python."""
    extras = PROJECT["optional-dependencies"]
    stated = map(Requirement, [*PROJECT["dependencies"], *(line for extra in EXTRAS for line in extras[extra])])
    minor = {"python_version": ".".join(python.split(".")[:2])}
    return [each for each in stated if each.marker is None or each.marker.evaluate(minor)]


def bounds_of(requirement: Requirement, operator: str) -> list[Version]:
    """Return the releases at which a requirement begins (`>=`), or before which it ends (`<`)."""
    return [Version(each.version) for each in requirement.specifier if each.operator == operator]


def not_at_lower_bound(stated: Sequence[Requirement], releases: Mapping[str, str]) -> Iterator[str]:
    """Yield what an installation of the lowest releases does not prove: packages at another than their lower bound."""
    for each in stated:
        installed = releases.get(name := canonicalize_name(each.name), "")
        if [Version(installed or "0")] != (bounds := bounds_of(each, ">=")):
            yield f"{name} is {installed or 'missing'}, not {', '.join(map(str, bounds))}, its lower bound"


def _uv(*arguments: str | Path, check: bool = True) -> str:
    command = [*_UV, *map(str, arguments), "--no-python-downloads"]
    return subprocess.run(command, cwd=ROOT, env=_any_of_pyenv(), stdout=subprocess.PIPE, text=True, check=check).stdout


def _any_of_pyenv() -> Mapping[str, str]:
    """Return the environment in which pyenv starts each Python that it has, not only those that are selected."""
    if which("pyenv") is None:
        return os.environ
    listed = subprocess.check_output(["pyenv", "versions", "--bare"], text=True).split()  # noqa: S607 - it is on PATH
    return {
        "PYENV_VERSION": ":".join(each for each in listed if each.startswith("3.") and "/" not in each),
        **os.environ,
    }


if __name__ == "__main__":
    main()

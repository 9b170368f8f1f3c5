"""Run the tests at the lowest and the latest release of every dependency, on every Python there is: `make matrix`."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from shutil import which
from typing import Final

import click

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: Final = ("dev", "redis")  # what the tests need beside the dependencies
_PYTHON: Final = "Programming Language :: Python :: 3."
_UV: Final = (sys.executable, "-m", "uv")


def lowest(requirement: str) -> str:
    """Return a requirement of the release at which its bounds begin; what it needs in turn is the latest."""
    return re.sub(r">=([^,;\s]+)(,<[^;\s]+)?", r"==\1", requirement)


ENDS: Final[Mapping[str, Callable[[str], str]]] = {"lowest": lowest, "latest": str}


@click.command()
@click.option("--only", "ends", multiple=True, type=click.Choice(list(ENDS)), help="One end of the bounds.")
@click.option("--pytest", "options", multiple=True, help="Options of pytest, or the tests to run.")
@click.argument("pythons", metavar="[PYTHON]...", nargs=-1)
def main(ends: Sequence[str], options: Sequence[str], pythons: Sequence[str]) -> None:
    """Run the tests with each PYTHON, by default all that there are, at both ends of the bounds of pyproject.toml.

    End with 1 where one failed.
    """
    words = [word for option in options for word in shlex.split(option)]
    passed = {cell: _passes(*cell, words) for cell in product(pythons or list(_pythons()), ends or ENDS)}
    for (python, end), has_passed in passed.items():
        click.echo(f"{python}, {end} releases: {'no error' if has_passed else 'failed'}")
    sys.exit(not passed or not all(passed.values()))


def _pythons() -> Iterator[str]:
    """Yield the paths of the Pythons of the classifiers that uv finds, the oldest first."""
    for classifier in PROJECT["classifiers"]:
        if classifier.startswith(_PYTHON):
            version = f"3.{classifier.removeprefix(_PYTHON)}"
            command = [*_UV, "python", "find", "--system", "--no-python-downloads", version]
            yield from subprocess.run(command, env=_any_of_pyenv(), stdout=-1, text=True, check=False).stdout.split()


def _passes(python: str, end: str, options: Sequence[str]) -> bool:
    """Make an environment in `.matrix`, and run pytest in it."""
    environment = ROOT / ".matrix" / f"{python.strip('./').replace('/', '-')}-{end}"
    extras = PROJECT["optional-dependencies"]
    stated = [*PROJECT["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    install = (*_UV, "pip", "install", "--quiet", "--python", environment)
    commands: Sequence[Sequence[str | Path]] = (
        (*_UV, "venv", "--quiet", "--clear", "--no-python-downloads", "--python", python, environment),
        # Wheels only: to compile numpy would take longer than the tests, and few can use a release that has none.
        (*install, "--no-build", *map(ENDS[end], stated)),
        (*install, "--no-deps", "--editable", ROOT),
        (environment / "bin" / "python", "-m", "pytest", *options),
    )
    return not any(subprocess.call(command, cwd=ROOT, env=_any_of_pyenv()) for command in commands)


def _any_of_pyenv() -> Mapping[str, str]:
    """Return the environment in which pyenv starts each Python that it has, not only those that are selected."""
    if which("pyenv") is None:
        return os.environ
    listed = subprocess.check_output(["pyenv", "versions", "--bare"], text=True).split()  # noqa: S607 - it is on PATH
    selected = ":".join(each for each in listed if each.startswith("3.") and "/" not in each)
    return {"PYENV_VERSION": selected, **os.environ}


if __name__ == "__main__":
    main()

"""The Pythons of this machine that the project supports."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Final

import msgspec
from packaging.version import Version

from tests.matrix.dependencies import PYTHONS

_NAME: Final = re.compile(r"python3\.\d+")
_RELEASE: Final = re.compile(r"3\.\d+\.\d+")
_IDENTITY: Final = "import platform, sys; print(platform.python_version(), sys.executable)"
_SECONDS: Final = 60


class Python(msgspec.Struct, frozen=True):
    """A Python: its release, such as 3.12.1, and the path of its program."""

    release: str
    program: str


def find_pythons() -> list[Python]:
    """Return the supported Pythons on PATH, one for each `python3.N`, those of pyenv included; the oldest first."""
    names = {file.name for folder in os.get_exec_path() for file in Path(folder).glob("python3.*")}
    found = (identify(name) for name in names if _NAME.fullmatch(name))
    return sorted(filter(None, found), key=lambda python: Version(python.release))


def identify(program: str) -> Python | None:
    """Return which Python a program, or a name on PATH, is; None where it does not run, or is not supported."""
    try:
        printed = _output(program, "-c", _IDENTITY, environment=_any_of_pyenv())
    except (OSError, subprocess.SubprocessError):
        return None
    python = Python(*printed.rstrip("\n").split(" ", 1))
    return python if PYTHONS.contains(python.release, prereleases=True) else None


def _any_of_pyenv() -> Mapping[str, str]:
    """Return the environment in which pyenv starts each Python that it has, not only those that are selected."""
    pyenv = which("pyenv")
    if pyenv is None:
        return os.environ
    listed = filter(_RELEASE.fullmatch, _output(pyenv, "versions", "--bare", environment=os.environ).split())
    return {"PYENV_VERSION": ":".join(sorted(listed, key=Version, reverse=True)), **os.environ}


def _output(*command: str, environment: Mapping[str, str]) -> str:
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=True)
    return ended.stdout

"""The machine and the versions of a benchmark."""

import os
import platform
import re
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.contender import ROOT
from service import __version__
from service.web.headers.content_coding import CODINGS

_PACKAGES: Final = ("aiohttp", "uvloop", "msgspec", "orjson", "numpy", "prometheus-client")


class Surroundings(msgspec.Struct, frozen=True):
    """The time, the commit, the machine and the versions of a measurement."""

    made_at: str
    commit: str
    machine: str
    versions: dict[str, str]

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.made_at}, commit {self.commit}. {self.machine}. {versions}."


def surroundings() -> Surroundings:
    """Return those of this process."""
    own = {"store-directory": __version__, "Python": platform.python_version()}
    packages = {name: version(name) for name in _PACKAGES}
    codings = {coding.token: coding.release for coding in CODINGS}
    return Surroundings(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=_commit(),
        machine=_machine(),
        versions=own | packages | codings | {"wrk": _first_line("wrk", "-v").partition(" [")[0].removeprefix("wrk ")},
    )


def _machine() -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    processor = model[1] if model else platform.machine()
    return f"{os.cpu_count()} cores of {processor}, {memory:.0f} GiB, Linux {platform.release()}"


def _commit() -> str:
    commit = _first_line("git", "rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    changed = _first_line("git", "status", "--porcelain", "--untracked-files=no", "--", "service")
    return f"{commit}, with changes not committed" if changed else commit


def _first_line(*command: str) -> str:
    """Return the first line that a command prints; empty if it fails or is missing."""
    if shutil.which(command[0]) is None:
        return ""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    return result.stdout.partition("\n")[0]

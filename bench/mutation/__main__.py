"""Mutate the engine and the parser of queries, and check that a test fails for each mutant: `make mutation`.

pyproject.toml lists the modules and the tests under `tool.mutmut`. The mutants run in a copy of the project with
the privileges of the user: do not run them as root.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import click

from bench.markdown import table
from bench.wire.contender import HOME, ROOT

_COPY: Final = HOME / "mutation" / "tree"
_COPIED: Final = ("service", "tests", "datasets", "pyproject.toml")
_MUTMUT: Final = (sys.executable, "-m", "mutmut")
_BOUND: Final = 90
_GENTLE: Final = 19
# A mutant with which the tests hang is detected, too.
_DETECTED: Final = ("killed", "timeout", "segfault")
_SURVIVED: Final = ("survived", "no tests", "suspicious")


@click.command()
@click.option("--processes", default=1, show_default=True, help="Mutants tested in parallel.")
def main(processes: int) -> None:
    """Print how many mutants each module had and how many were detected; exit with 1 below 90 percent."""
    os.nice(_GENTLE)
    _copy()
    subprocess.run([*_MUTMUT, "run", "--max-children", str(processes)], cwd=_COPY, check=True)  # noqa: S603 - our own
    results = subprocess.run([*_MUTMUT, "results", "--all", "true"], cwd=_COPY, check=True, text=True, stdout=-1)  # noqa: S603 - as above
    found = dict(line.strip().rsplit(": ", 1) for line in results.stdout.splitlines() if "__mutmut_" in line)
    survivors = [f"{name}: {status}" for name, status in found.items() if status not in _DETECTED]
    print("\n".join(["", *survivors, "", markdown(found), f"A survivor: cd {_COPY}; python -m mutmut show NAME"]))
    sys.exit(score(found.values()) < _BOUND)


def _copy() -> None:
    shutil.rmtree(_COPY, ignore_errors=True)
    _COPY.mkdir(parents=True)
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, _COPY / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, _COPY)


def score(statuses: Iterable[str]) -> float:
    """Return the percentage of mutants that were detected."""
    counts = Counter(statuses)
    return 100 * sum(counts[status] for status in _DETECTED) / max(counts.total(), 1)


def markdown(found: Mapping[str, str]) -> str:
    """Return the statuses of mutants by name as a table of their modules."""
    modules: dict[str, list[str]] = defaultdict(list)
    for name, status in found.items():
        modules[name.rpartition(".")[0]].append(status)
    rows = [_row(module, statuses) for module, statuses in sorted(modules.items())]
    head = ("module", "mutants", "killed", "timed out", "survived", "noticed, %")
    return table(head, [*rows, _row("**all**", list(found.values()))])


def _row(name: str, statuses: Sequence[str]) -> Sequence[str]:
    counts = Counter(statuses)
    survived = sum(counts[status] for status in _SURVIVED)
    numbers = (counts.total(), counts["killed"] + counts["segfault"], counts["timeout"], survived)
    return (name, *map(str, numbers), f"{score(statuses):.1f}")


if __name__ == "__main__":
    main()

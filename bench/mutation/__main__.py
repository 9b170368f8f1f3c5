"""Mutate the engine and the parser of queries, and check that a test fails for each mutant: `make mutation`.

pyproject.toml lists the modules and the tests under `tool.mutmut`. The mutants run in a copy of the project with
the privileges of the user: do not run them as root.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

import click

from bench.report import ROOT, table
from bench.servers import HOME

_COPY: Final = HOME / "mutation" / "tree"
_COPIED: Final = ("service", "tests", "datasets", "pyproject.toml")
_MUTMUT: Final = (sys.executable, "-m", "mutmut")
_BOUND: Final = 90
# A mutant with which the tests hang is detected, too.
_DETECTED: Final = ("killed", "timeout", "segfault")


@click.command()
@click.option("--processes", default=1, show_default=True, help="Mutants tested in parallel.")
def main(processes: int) -> None:
    """Print how many mutants each module had and how many were detected; exit with 1 below 90 percent."""
    os.nice(19)
    shutil.rmtree(_COPY, ignore_errors=True)
    _COPY.mkdir(parents=True)
    for source in (ROOT / name for name in _COPIED):
        if source.is_dir():
            shutil.copytree(source, _COPY / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, _COPY)
    subprocess.run([*_MUTMUT, "run", "--max-children", str(processes)], cwd=_COPY, check=True)  # noqa: S603 - our own
    results = subprocess.run([*_MUTMUT, "results", "--all", "true"], cwd=_COPY, check=True, text=True, stdout=-1)  # noqa: S603 - as above
    found = dict(line.strip().rsplit(": ", 1) for line in results.stdout.splitlines() if "__mutmut_" in line)
    survivors = [f"{name}: {status}" for name, status in found.items() if status not in _DETECTED]
    modules = sorted({name.rpartition(".")[0] for name in found})
    rows = [_row(each, [found[name] for name in found if name.startswith(f"{each}.")]) for each in modules]
    total = _row("**all**", list(found.values()))
    tables = table(("module", "mutants", "killed", "timed out", "survived", "detected, %"), [*rows, total])
    print("\n".join(["", *survivors, "", tables, f"A survivor: cd {_COPY}; python -m mutmut show NAME"]))
    sys.exit(float(total[-1]) < _BOUND)


def _row(name: str, statuses: Sequence[str]) -> Sequence[str]:
    counts, total = Counter(statuses), max(len(statuses), 1)
    detected = sum(counts[status] for status in _DETECTED)
    numbers = (len(statuses), counts["killed"] + counts["segfault"], counts["timeout"], len(statuses) - detected)
    return (name, *map(str, numbers), f"{100 * detected / total:.1f}")


if __name__ == "__main__":
    main()

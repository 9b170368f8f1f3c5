"""Change the engine and the reading of queries in every small way, and see whether a test fails: `make mutation`.

What is changed, and which tests are run, stands in pyproject.toml under `tool.mutmut`. The changed code runs in a copy
of the project, by nobody's privileges but those of who started it: not as root where anything is at stake.
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
# A change after which the tests hang is noticed by whoever waits for them.
_NOTICED: Final = ("killed", "timeout", "segfault")
_SURVIVED: Final = ("survived", "no tests", "suspicious")


@click.command()
@click.option("--processes", default=1, show_default=True, help="How many mutants are tried at once.")
def main(processes: int) -> None:
    """Print how many mutants each module had and how many were noticed; end with 1 below 90 percent."""
    os.nice(_GENTLE)
    _copy()
    subprocess.run([*_MUTMUT, "run", "--max-children", str(processes)], cwd=_COPY, check=True)  # noqa: S603 - our own
    told = subprocess.run([*_MUTMUT, "results", "--all", "true"], cwd=_COPY, check=True, text=True, stdout=-1)  # noqa: S603 - as above
    found = dict(line.strip().rsplit(": ", 1) for line in told.stdout.splitlines() if "__mutmut_" in line)
    survivors = [f"{name}: {status}" for name, status in found.items() if status not in _NOTICED]
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
    """Return how many mutants of a hundred were noticed."""
    counts = Counter(statuses)
    return 100 * sum(counts[status] for status in _NOTICED) / max(counts.total(), 1)


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

"""Reports of benchmarks: Markdown tables, marked sections of pages, spreads of figures, the machine, the versions."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Final, NoReturn

import msgspec

from service import __version__
from service.web.http.content_coding import CODINGS

ROOT: Final = Path(__file__).parents[1]
README: Final = ROOT / "bench" / "README.md"
RESULTS: Final = ROOT / "bench" / "results"
_PACKAGES: Final = ("aiohttp", "uvloop", "msgspec", "orjson", "numpy", "prometheus-client")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill(text: str, name: str, tables: str) -> str:
    """Replace the text between the marks of a name; without the marks the text is unchanged."""
    mark, end = f"<!-- table:{name} -->", f"<!-- end:{name} -->"
    between = re.compile(f"{re.escape(mark)}.*{re.escape(end)}", re.DOTALL)
    return between.sub(lambda _: f"{mark}\n{tables}{end}", text)


def save(name: str, tables: str, *, page: Path = README) -> None:
    """Write tables into the marked section of a page."""
    page.write_text(fill(page.read_text("utf-8"), name, tables), "utf-8")


def finish(name: str, tables: str, *, is_full: bool, missed: object = (), page: Path = README) -> NoReturn:
    """Print the tables, save those of a full run, and exit with 1 if a bound is missed."""
    print(tables)
    if is_full:
        save(name, tables, page=page)
    sys.exit(bool(missed))


def keep(name: str, results: object) -> None:
    """Write results, which tests and other tables read, to `results/` as JSON."""
    (RESULTS / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")


class Spread(msgspec.Struct, frozen=True):
    """The minimum, the median and the maximum of some figures."""

    lowest: float
    median: float
    highest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> "Spread":
        """Return the spread of figures."""
        ordered = sorted(figures)
        return cls(ordered[0], median(ordered), ordered[-1])

    def cells(self, digits: int = 2) -> Sequence[str]:
        """Return the median, the minimum and the maximum as cells of a table."""
        return (f"**{self.median:.{digits}f}**", f"{self.lowest:.{digits}f}", f"{self.highest:.{digits}f}")


def with_maximum(figures: Iterable[float], *, scale: float = 1, digits: int = 2) -> str:
    """Return the median of some figures, and the maximum in parentheses."""
    spread = Spread.of(figures)
    return f"{spread.median * scale:,.{digits}f} ({spread.highest * scale:,.{digits}f})"


class Surroundings(msgspec.Struct, frozen=True):
    """The time, the commit, the machine and the versions of a measurement."""

    made_at: str
    commit: str
    machine: str
    versions: dict[str, str]

    def __str__(self) -> str:
        """Return all but the versions of packages, which are those of `constraints.txt` at the commit."""
        versions = ", ".join(f"{name} {self.versions[name]}" for name in ("store-directory", "Python"))
        return f"{self.made_at[:10]}, commit {self.commit}. {self.machine}. {versions}."


def surroundings() -> Surroundings:
    """Return those of this process."""
    versions = {"store-directory": __version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in _PACKAGES}
    versions |= {coding.token: coding.release for coding in CODINGS}
    versions |= {"wrk": _first_line("wrk", "-v").partition(" [")[0].removeprefix("wrk ")}
    return Surroundings(datetime.now(UTC).isoformat(timespec="seconds"), _commit(), _machine(), versions)


def _machine() -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    processor = model[1] if model else platform.machine()
    return f"{os.cpu_count()} cores of {processor}, {memory:.0f} GiB, Linux {platform.release()}"


def _commit() -> str:
    commit = _first_line("git", "rev-parse", "--short=12", "HEAD") or "unknown"
    changed = _first_line("git", "status", "--porcelain", "--untracked-files=no", "--", "service")
    return f"{commit}, with changes not committed" if changed else commit


def _first_line(*command: str) -> str:
    """Return the first line that a command prints; empty if it fails or is missing."""
    if shutil.which(command[0]) is None:
        return ""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    return result.stdout.partition("\n")[0]

"""The data sets of the benchmarks: generated once with `store-directory sample`, then reused."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.contender import HOME, ROOT

# Companies are few enough to have thousands of stores, many enough for thousands of requests by identifier.
_STORES_PER_COMPANY: Final = 50


class Sample(msgspec.Struct, frozen=True):
    """The parameters of a synthetic data set."""

    stores: int
    companies: int
    seed: int

    @classmethod
    def of(cls, stores: int, *, seed: int, companies: int | None = None) -> "Sample":
        """Return a data set of a number of stores; by default with one company per 50 stores."""
        return cls(stores, companies or max(stores // _STORES_PER_COMPANY, 1), seed)

    @property
    def work(self) -> Path:
        """The folder of everything generated for this data set."""
        return HOME / f"{self.stores}-{self.companies}-{self.seed}"

    @property
    def folder(self) -> Path:
        """The folder of the data set itself, as JSON files."""
        return self.work / "sample"

    @property
    def csv(self) -> Path:
        """The folder of the same data set as CSV files."""
        return self.work / "csv"

    @property
    def baked(self) -> Path:
        """The data set compiled into one file."""
        return self.work / "baked"


def make(sample: Sample) -> None:
    """Write the JSON files if there are none."""
    _make(sample, sample.folder, "json")


def make_csv(sample: Sample) -> None:
    """Write the CSV files if there are none."""
    _make(sample, sample.csv, "csv")


def bake(sample: Sample) -> None:
    """Compile the data set again, because the code of `bake` may have changed."""
    bake_folder(sample.folder, sample.baked)


def bake_folder(folder: Path, file: Path) -> None:
    """Compile the data set of a folder into a file, replacing it."""
    file.unlink(missing_ok=True)
    _run("bake", str(folder), str(file))


def make_baked(sample: Sample) -> Path:
    """Generate the data set, compile it, and return the baked file."""
    make(sample)
    bake(sample)
    return sample.baked


def _make(sample: Sample, folder: Path, form: str) -> None:
    if not (folder / f"stores.{form}").exists():
        counts = (f"--stores={sample.stores}", f"--companies={sample.companies}", f"--seed={sample.seed}")
        _run("sample", str(folder), *counts, f"--format={form}")


def _run(*arguments: str) -> None:
    command = [sys.executable, "-m", "service", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)  # noqa: S603 - this project's own program

"""The data sets that are served: made once with `store-directory sample`, then used again."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from bench.wire.contender import HOME, ROOT

# Companies are few enough to have thousands of stores, many enough for thousands of requests by identifier.
_STORES_PER_COMPANY: Final = 50


class Sample(msgspec.Struct, frozen=True):
    """The numbers that a made-up data set follows from."""

    stores: int
    companies: int
    seed: int

    @classmethod
    def of(cls, stores: int, *, seed: int, companies: int | None = None) -> "Sample":
        """Return a data set of so many stores, of the usual number of companies unless told."""
        return cls(stores, companies or max(stores // _STORES_PER_COMPANY, 1), seed)

    @property
    def work(self) -> Path:
        """The folder of everything that is made for this data set."""
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
    """Write the JSON files where there are none."""
    if not (sample.folder / "stores.json").exists():
        _sample(sample, sample.folder, "json")


def make_csv(sample: Sample) -> None:
    """Write the CSV files where there are none."""
    if not (sample.csv / "stores.csv").exists():
        _sample(sample, sample.csv, "csv")


def bake(sample: Sample) -> None:
    """Compile the data set anew, as the code that bakes may have changed."""
    bake_folder(sample.folder, sample.baked)


def bake_folder(folder: Path, file: Path) -> None:
    """Compile the data set of a folder into a file, which is replaced."""
    file.unlink(missing_ok=True)
    _run("bake", str(folder), str(file))


def make_baked(sample: Sample) -> Path:
    """Make the data set and return it compiled."""
    make(sample)
    bake(sample)
    return sample.baked


def _sample(sample: Sample, folder: Path, form: str) -> None:
    given = {"stores": sample.stores, "companies": sample.companies, "seed": sample.seed, "format": form}
    _run("sample", str(folder), *(word for name, value in given.items() for word in (f"--{name}", str(value))))


def _run(*arguments: str) -> None:
    command = [sys.executable, "-m", "service", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)  # noqa: S603 - this project's own program

"""The data sets that are served: made once with `store-directory sample`, then used again."""

import subprocess
import sys
from pathlib import Path

import msgspec

from bench.wire.contender import HOME, ROOT


class Sample(msgspec.Struct, frozen=True):
    """The numbers that a made-up data set follows from."""

    stores: int
    companies: int
    seed: int

    @property
    def work(self) -> Path:
        """The folder of everything that is made for this data set."""
        return HOME / f"{self.stores}-{self.companies}-{self.seed}"

    @property
    def folder(self) -> Path:
        """The folder of the data set itself."""
        return self.work / "sample"

    @property
    def baked(self) -> Path:
        """The data set compiled into one file."""
        return self.work / "baked"


def make(sample: Sample) -> None:
    """Write the data set where there is none."""
    if (sample.folder / "stores.json").exists():
        return
    numbers = {"--stores": sample.stores, "--companies": sample.companies, "--seed": sample.seed}
    options = [word for name, number in numbers.items() for word in (name, str(number))]
    _run("sample", str(sample.folder), *options)


def bake(sample: Sample) -> None:
    """Compile the data set anew, as the code that bakes may have changed."""
    sample.baked.unlink(missing_ok=True)
    _run("bake", str(sample.folder), str(sample.baked))


def _run(*arguments: str) -> None:
    command = [sys.executable, "-m", "service", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)  # noqa: S603 - this project's own program

"""The data sets of the benchmarks: generated once with `store-directory sample`, then reused; and editions of them."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

import msgspec
import orjson

from bench.report import ROOT
from bench.servers import HOME
from service.baking.layout import map_file

Form: TypeAlias = Literal["files", "baked"]
FORMS: Final[tuple[Form, ...]] = ("files", "baked")

# Companies are few enough to have thousands of stores, many enough for thousands of requests by identifier.
_STORES_PER_COMPANY: Final = 50
_LISTED: Final = ("stores.json", "companies.json")
# The manifest is the last file that is published.
_FILES: Final = (*_LISTED, "manifest.json")
_NAME: Final = b'"name":"'
_NO_NAME: Final = b'"name":null'


class Sample(msgspec.Struct, frozen=True):
    """The parameters of a synthetic data set, and where it is kept."""

    stores: int
    companies: int
    seed: int
    home: Path = HOME

    @classmethod
    def of(cls, stores: int, *, seed: int = 1, home: Path = HOME) -> "Sample":
        """Return a data set of a number of stores, with one company per 50 stores."""
        return cls(stores, max(stores // _STORES_PER_COMPANY, 1), seed, home)

    @property
    def work(self) -> Path:
        """The folder of everything generated for this data set."""
        return self.home / f"{self.stores}-{self.companies}-{self.seed}"

    @property
    def folder(self) -> Path:
        """The folder of the data set itself, as JSON files."""
        return self.work / "sample"

    @property
    def baked(self) -> Path:
        """The data set compiled into one file."""
        return self.work / "baked"


def make(sample: Sample) -> None:
    """Write the JSON files if there are none."""
    if not (sample.folder / "stores.json").exists():
        counts = (f"--stores={sample.stores}", f"--companies={sample.companies}", f"--seed={sample.seed}")
        _run("sample", str(sample.folder), *counts, "--format=json")


def bake(folder: Path, file: Path) -> None:
    """Compile the data set of a folder into a file, replacing it, because the code of `bake` may have changed."""
    file.unlink(missing_ok=True)
    _run("bake", str(folder), str(file))


def make_baked(sample: Sample) -> Path:
    """Generate the data set, compile it, and return the baked file."""
    make(sample)
    bake(sample.folder, sample.baked)
    return sample.baked


def _run(*arguments: str) -> None:
    command = [sys.executable, "-m", "service", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)  # noqa: S603 - this project's own program


class Edition(msgspec.Struct, frozen=True):
    """An edition of a data set: its files, with a manifest; the same compiled; its data version.

    Each name in it begins with its mark; that is all that distinguishes it from other editions.
    """

    folder: Path
    baked: Path
    version: str
    mark: bytes


def editions(sample: Sample, count: int = 2) -> Sequence[Edition]:
    """Return editions of a data set. The files are generated once; they are compiled each time."""
    make(sample)
    return [_edition(sample, sample.work / f"edition-{number}", b"g%d " % number) for number in range(count)]


def _edition(sample: Sample, folder: Path, mark: bytes) -> Edition:
    manifest, baked = folder / _FILES[-1], folder.with_suffix(".baked")
    if not manifest.exists():
        folder.mkdir(exist_ok=True)
        for name in _LISTED:
            named = (sample.folder / name).read_bytes().replace(_NO_NAME, _NAME + b'Store"')
            (folder / name).write_bytes(named.replace(_NAME, _NAME + mark))
        counts = zip(_LISTED, (sample.stores, sample.companies), strict=True)
        digests = {name: sha256((folder / name).read_bytes()).hexdigest() for name in _LISTED}
        files = {name: {"sha256": digests[name], "records": records} for name, records in counts}
        manifest.write_bytes(orjson.dumps({"files": files}))
    bake(folder, baked)
    return Edition(folder, baked, map_file(baked, checked=True).metadata["version"], mark)


class Published:
    """Editions that are published in turn in one of the forms; `path` is the path to serve."""

    def __init__(self, folder: Path, chosen: Sequence[Edition], form: Form) -> None:
        self._editions, self._folder = cycle(chosen), folder
        self.path = folder if form == "files" else folder / "stores.baked"
        self.publish()

    def publish(self) -> Edition:
        """Publish the next edition: link each file to a temporary name, then rename all, the manifest last."""
        edition = next(self._editions)
        files = [edition.folder / name for name in _FILES] if self.path == self._folder else [edition.baked]
        for file in files:
            (self._folder / f".{file.name}").hardlink_to(file)
        for file in files:
            place = self.path if file == edition.baked else self.path / file.name
            (self._folder / f".{file.name}").replace(place)
        return edition


@contextmanager
def publish_in_turn(sample: Sample, chosen: Sequence[Edition], form: Form) -> Iterator[Published]:
    """Publish the first edition in a temporary folder."""
    with TemporaryDirectory(dir=sample.work, prefix="published-") as folder:
        yield Published(Path(folder), chosen, form)

"""Two data sets that differ in one name, and the path where they are published in turn."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

import msgspec

from bench.wire.sample import Sample, bake_folder, make

Form: TypeAlias = Literal["files", "baked"]
FORMS: Final[tuple[Form, ...]] = ("files", "baked")

_STORES: Final = "stores.json"
_COMPANIES: Final = "companies.json"
_MANIFEST: Final = "manifest.json"
_NAME: Final = b'"name":"'


class Edition(msgspec.Struct, frozen=True):
    """A data set: the folder of its files, with a manifest, and the same compiled."""

    folder: Path
    baked: Path


def editions(sample: Sample) -> tuple[Edition, Edition]:
    """Return a synthetic data set and a variant of it. The files are generated once; they are compiled each time."""
    make(sample)
    made = tuple(_edition(sample, name, change) for name, change in (("first", bytes), ("second", _renamed)))
    return made[0], made[1]


def _edition(sample: Sample, name: str, change: Callable[[bytes], bytes]) -> Edition:
    edition = Edition(sample.work / name, sample.work / f"{name}.baked")
    if not (edition.folder / _MANIFEST).exists():
        edition.folder.mkdir(exist_ok=True)
        shutil.copyfile(sample.folder / _COMPANIES, edition.folder / _COMPANIES)
        (edition.folder / _STORES).write_bytes(change((sample.folder / _STORES).read_bytes()))
        listed = ((_STORES, sample.stores), (_COMPANIES, sample.companies))
        files = {name: _listing(edition.folder / name, records) for name, records in listed}
        (edition.folder / _MANIFEST).write_bytes(msgspec.json.encode({"files": files}))
    bake_folder(edition.folder, edition.baked)
    return edition


def _listing(file: Path, records: int) -> dict[str, str | int]:
    return {"sha256": sha256(file.read_bytes()).hexdigest(), "records": records}


def _renamed(stores: bytes) -> bytes:
    return stores.replace(_NAME, _NAME + b"New ", 1)


class Published:
    """The editions, published in turn in one of the forms; `path` is the path to serve."""

    def __init__(self, folder: Path, pair: Sequence[Edition], form: Form) -> None:
        self._editions = cycle(pair)
        self._folder, self._form = folder, form
        self.path = folder if form == "files" else folder / "stores.baked"
        self.publish()

    def publish(self) -> None:
        """Publish the other edition: link each file to a temporary name, then rename all, the manifest last."""
        edition = next(self._editions)
        if self._form == "baked":
            names = {edition.baked: self.path}
        else:
            names = {edition.folder / name: self.path / name for name in (_STORES, _COMPANIES, _MANIFEST)}
        for file in names:
            (self._folder / f".{file.name}").hardlink_to(file)
        for file, name in names.items():
            (self._folder / f".{file.name}").replace(name)


@contextmanager
def publish_in_turn(sample: Sample, pair: Sequence[Edition], form: Form) -> Iterator[Published]:
    """Publish the first edition in a temporary folder."""
    with TemporaryDirectory(dir=sample.work, prefix="published-") as folder:
        yield Published(Path(folder), pair, form)

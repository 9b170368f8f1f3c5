"""Data sets that tell of which generation they are: every record names it, and it decides how many there are."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
import orjson

from service.baking.baked_file import bake
from tests.baking.made_up import loaded
from tests.directory import company, store

STORES: Final = "stores.json"
COMPANIES: Final = "companies.json"
MANIFEST: Final = "manifest.json"
# In a folder with a manifest they are written in this order: until the last one is, the set is of two generations.
ORDER: Final = (STORES, COMPANIES, MANIFEST)


class Generation(msgspec.Struct, frozen=True):
    """A generation of data, by its number; the next one has another number of stores and of companies.

    None has less than half as many as another, so each may replace any.

    weight  makes each record longer by so many characters
    """

    number: int
    weight: int = 0

    @property
    def name(self) -> str:
        """What every record of it is called."""
        return f"generation {self.number}"

    @property
    def stores(self) -> int:
        """How many stores it has."""
        return 4 + self.number % 4

    @property
    def companies(self) -> int:
        """How many companies it has."""
        return 2 + self.number % 3

    def files(self, *, manifest: bool = True) -> dict[str, bytes]:
        """Return its files by name, in the order in which they are written."""
        filling = "x" * self.weight
        named = {STORES: [store(f"s{place}", name=self.name, address_2=filling) for place in range(self.stores)]}
        named[COMPANIES] = [company(), *(company(f"c{place}") for place in range(1, self.companies))]
        files = {name: orjson.dumps([each | {"name": self.name} for each in made]) for name, made in named.items()}
        if manifest:
            files[MANIFEST] = _manifest(files, {name: len(made) for name, made in named.items()})
        return files

    def write(self, folder: Path, *, manifest: bool = True) -> Path:
        """Write it into a folder, file by file and in place."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files(manifest=manifest).items():
            (folder / name).write_bytes(content)
        return folder

    def bake(self, folder: Path) -> Path:
        """Bake it into a file in a folder, and return the file."""
        file = folder / f"{self.number}.baked"
        bake(*loaded(self.write(folder / f"{self.number}")), file)
        return file


def _manifest(files: Mapping[str, bytes], counts: Mapping[str, int]) -> bytes:
    listed = {name: {"sha256": sha256(text).hexdigest(), "records": counts[name]} for name, text in files.items()}
    return orjson.dumps({"files": listed})


def put(content: bytes, file: Path) -> None:
    """Let a file have another content, at once: written beside it, then renamed."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_bytes(content)
    beside.replace(file)


def turn(link: Path, to: Path) -> None:
    """Let a link lead to somewhere else, at once, as Kubernetes does."""
    beside = link.with_name(f"{link.name}.new")
    beside.symlink_to(to)
    beside.replace(link)

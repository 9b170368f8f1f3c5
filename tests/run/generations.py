"""Data sets that identify their generation: each record has its name, and their numbers depend on it."""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
import orjson

from service.baking.baked_file import write_baked
from tests.baking.random_datasets import baked_file, loaded
from tests.directory import company, store, write_directory

STORES: Final = "stores.json"
COMPANIES: Final = "companies.json"
MANIFEST: Final = "manifest.json"
# The order of writing: until the manifest is written, the set is inconsistent.
ORDER: Final = (STORES, COMPANIES, MANIFEST)


class Generation(msgspec.Struct, frozen=True):
    """A generation of data. Consecutive ones differ in their numbers of stores and of companies.

    None has less than half as many as another, so that `--max-shrink` allows any replacement.

    weight  number of additional characters in each record
    """

    number: int
    weight: int = 0

    @property
    def name(self) -> str:
        """The name of all its records."""
        return f"generation {self.number}"

    @property
    def stores(self) -> int:
        """Its number of stores."""
        return 4 + self.number % 4

    @property
    def companies(self) -> int:
        """Its number of companies."""
        return 2 + self.number % 3

    def files(self, *, manifest: bool = True) -> dict[str, bytes]:
        """Return its files by name, in the order of writing."""
        padding = "x" * self.weight
        named = {STORES: [store(f"s{place}", name=self.name, address_2=padding) for place in range(self.stores)]}
        named[COMPANIES] = [company(), *(company(f"c{place}") for place in range(1, self.companies))]
        files = {name: orjson.dumps([each | {"name": self.name} for each in made]) for name, made in named.items()}
        if manifest:
            files[MANIFEST] = _manifest(files, {name: len(made) for name, made in named.items()})
        return files

    def write(self, folder: Path, *, manifest: bool = True) -> Path:
        """Write its files into a folder, in place."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files(manifest=manifest).items():
            (folder / name).write_bytes(content)
        return folder

    def bake(self, folder: Path) -> Path:
        """Bake it into a file in a folder; return the file."""
        file = folder / f"{self.number}.baked"
        write_baked(loaded(self.write(folder / f"{self.number}")), file)
        return file


def bake_stores(folder: Path, count: int) -> Path:
    """Replace the file `stores.baked` of a folder with one of so many stores; return it."""
    files = write_directory(folder / "data", [store(f"s{number}") for number in range(count)])
    return baked_file(files, folder / "new.baked").replace(folder / "stores.baked")


def _manifest(files: Mapping[str, bytes], counts: Mapping[str, int]) -> bytes:
    listed = {name: {"sha256": sha256(text).hexdigest(), "records": counts[name]} for name, text in files.items()}
    return orjson.dumps({"files": listed})


def put(content: bytes, file: Path) -> None:
    """Replace the content of a file atomically."""
    temporary = file.with_name(f".{file.name}.new")
    temporary.write_bytes(content)
    temporary.replace(file)


def flip(file: Path) -> None:
    """Change a byte of a file in place."""
    with file.open("r+b") as stored:
        stored.seek(-100, os.SEEK_END)
        (byte,) = stored.read(1)
        stored.seek(-100, os.SEEK_END)
        stored.write(bytes([byte ^ 1]))


def swap_link(link: Path, to: Path) -> None:
    """Replace the target of a link atomically, as Kubernetes does."""
    temporary = link.with_name(f"{link.name}.new")
    temporary.symlink_to(to)
    temporary.replace(link)

"""Data sets that are alike, except that each record's name begins with the number of its edition."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import orjson

from tests.program import run

_NAME: Final = b'"name":"'
_NO_NAME: Final = b'"name":null'


class Edition(msgspec.Struct, frozen=True):
    """An edition: its baked file, its data version, and the bytes with which each name in it begins."""

    baked: Path
    version: str
    mark: bytes


def make_editions(folder: Path, *, stores: int, count: int) -> Sequence[Edition]:
    """Generate a data set in a folder; return the editions of it."""
    sample = folder / "sample"
    run("sample", sample, "--stores", str(stores), "--companies", str(stores // 50)).check_returncode()
    return [_edition(sample, folder / f"edition-{number}", b"g%d " % number) for number in range(count)]


def _edition(sample: Path, folder: Path, mark: bytes) -> Edition:
    folder.mkdir()
    for file in sample.glob("*.json"):
        named = file.read_bytes().replace(_NO_NAME, _NAME + b'Store"')
        (folder / file.name).write_bytes(named.replace(_NAME, _NAME + mark))
    baked = folder.with_suffix(".baked")
    run("bake", folder, baked).check_returncode()
    return Edition(baked, _version(baked.read_bytes()), mark)


def _version(baked: bytes) -> str:
    """Return the data version in a baked file (docs/baked.md)."""
    size = 8
    header = orjson.loads(baked[size : size + int.from_bytes(baked[:size], "little")])
    return str(header["__metadata__"]["version"])

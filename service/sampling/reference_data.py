"""The reference data that ships with the package, in `data/`: word lists and patterns in TOML, cities in CSV."""

import csv
from importlib.resources import files
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")
_FOLDER: Final = files(__package__) / "data"


def read_toml(name: str, shape: type[T]) -> T:
    """Return a TOML file of `data/`, converted to a type."""
    return msgspec.toml.decode((_FOLDER / name).read_bytes(), type=shape)


def read_rows(name: str) -> list[list[str]]:
    """Return the rows of a CSV file of `data/`, without its header."""
    return list(csv.reader((_FOLDER / name).read_text("utf-8").splitlines()))[1:]

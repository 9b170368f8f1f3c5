"""Baked files with wrong content and correct checksums, and why a file is refused."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from service.baking.baked_file import load_baked
from service.baking.layout import Array, map_file, write_file
from service.dataset import Dataset, Rejected


def refusal(file: Path) -> str:
    """Return why a file is refused, in one line behind its name."""
    with pytest.raises(Rejected, match=f"^{re.escape(str(file))}: ") as caught:
        load_baked(file)
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(f"{file}: ")


class Forge:
    """Writes files like a valid one, with some arrays and texts replaced, or left out where they are None.

    arrays, texts  those of the valid file
    """

    def __init__(self, valid: Path) -> None:
        content = map_file(valid)
        self.arrays, self.texts, self._file = content.arrays, content.metadata, valid.with_name("forged.baked")

    def file(self, arrays: "Mapping[str, Array | None] | None" = None, **texts: str | None) -> Path:
        """Write a file."""
        made, metadata = {**self.arrays, **(arrays or {})}, {**self.texts, **texts}
        write_file(
            self._file,
            {name: array for name, array in made.items() if array is not None},
            {name: text for name, text in metadata.items() if text is not None},
            durable=False,
        )
        return self._file

    def dataset(self, arrays: Mapping[str, Array]) -> Dataset:
        """Return the data set of a file that is accepted."""
        return load_baked(self.file(arrays))

    def refusal(self, arrays: "Mapping[str, Array | None] | None" = None, **texts: str | None) -> str:
        """Return why a file is refused."""
        return refusal(self.file(arrays, **texts))

    def refusal_of(self, name: str, place: int, value: float) -> str:
        """Return why a file is refused that has another item in an array; it is to be baked again."""
        why = self.refusal({name: self.with_item(name, place, value)})
        assert why.endswith("; bake it again"), why
        return why.removesuffix("; bake it again")

    def with_item(self, name: str, place: int, value: float) -> Array:
        """Return an array with another item."""
        array = self.arrays[name].copy()
        array[place] = value
        return array

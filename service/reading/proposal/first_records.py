"""The first records of a file, by column: what a mapping is proposed from."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from service.reading.batches.batch import Cell
from service.reading.batches.record_file import RecordFile

MAX_COLUMNS: Final = 1_000  # that are read; a header may have millions
_MAX_TEXT: Final = 200  # characters of a name and of a cell
# What people write for no value. Words that may be values are not here: NA is Namibia.
_NO_VALUE: Final = frozenset(
    {"-", "--", "–", "—", "?", "n/a", "#n/a", "#nv", "n.a.", "k.a.", "k. a.", "null", "(null)", r"\n"}  # noqa: RUF001 - dashes
    | {"unknown", "unbekannt", "inconnu", "desconocido", "sconosciuto", "onbekend"}
)


class ColumnSample(msgspec.Struct, frozen=True):
    """A column: its name, and its cells in the first records, texts without the white space around them.

    cells     None for those without a value
    no_value  the texts among them that mean "no value", as they are written
    """

    name: str
    cells: Sequence[Cell]
    no_value: Sequence[str] = ()

    @property
    def texts(self) -> list[str]:
        """The distinct texts."""
        return list(dict.fromkeys(cell for cell in self.cells if isinstance(cell, str)))

    @property
    def has_values(self) -> bool:
        """Whether it has texts or flags; arrays and objects are not the values of a field."""
        return any(isinstance(cell, str | bool) for cell in self.cells)


class FirstRecords(msgspec.Struct, frozen=True):
    """The first columns of a file by name, in order, and how many records they have."""

    columns: Mapping[str, ColumnSample]
    count: int = 0

    def count_missing(self, names: Sequence[str]) -> int:
        """Return how many of the records have no value in any of some columns."""
        cells = [self.columns[name].cells for name in names]
        return self.count - sum(any(cell is not None for cell in record) for record in zip(*cells, strict=True))


def read_first_records(file: RecordFile) -> FirstRecords:
    """Return the first records of a file. Raises FileError."""
    names = list(islice(filter(_is_name, file.names), MAX_COLUMNS))
    batch = next(file.batches(names), None)
    if batch is None:
        return FirstRecords({name: ColumnSample(name, ()) for name in names})
    return FirstRecords({name: _sample(name, batch.columns[name]) for name in names}, len(batch.numbers))


def _is_name(name: str) -> bool:
    return len(name) <= _MAX_TEXT and not name.isspace() and name != ""


def _sample(name: str, cells: Sequence[Cell]) -> ColumnSample:
    stripped = [cell.strip()[:_MAX_TEXT] if isinstance(cell, str) else cell for cell in cells]
    none = {""} | {cell for cell in stripped if isinstance(cell, str) and cell.casefold() in _NO_VALUE}
    return ColumnSample(name, [None if cell in none else cell for cell in stripped], sorted(none - {""}))

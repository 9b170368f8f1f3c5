"""Batches of unchecked records, by column, and the interface of the files that yield them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UnsetType

from service.reading.diagnostics import Issue

BATCH_SIZE: Final = 1_024  # records; checks by column favour large batches, the CPU cache and the allocator small ones
_T = TypeVar("_T")
_Fill = TypeVar("_Fill")
Value: TypeAlias = str | bool | tuple[str, ...] | msgspec.Raw | UnsetType | None


class WrongType(msgspec.Struct, frozen=True):
    """A JSON value of a type that its field does not accept, as written."""

    text: str


class Invalid(msgspec.Struct, frozen=True):
    """A text that a mapping could not convert, and what it declared.

    is_null  whether it has a warning instead of an error, and is null
    value    what it is then instead of null
    """

    text: str
    issue: Issue
    is_null: bool = False
    value: str | None = None


def written(cell: "Cell") -> str:
    """Return a cell as its file has it, a flag as in JSON; "" for none."""
    if isinstance(cell, WrongType | Invalid):
        return cell.text
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


Cell: TypeAlias = str | bool | tuple[str, ...] | WrongType | Invalid | None


class TextCells(list[str]):
    """The cells of a column that are texts, "" for no value; `lines` has all of them, each with a line feed."""

    __slots__ = ("lines",)

    def __init__(self, texts: Iterable[str], lines: str | None = None) -> None:
        super().__init__(texts)
        self.lines = "\n".join([*self, ""]) if lines is None else lines

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "TextCells | None":
        """Return cells as texts; None if one of them is neither a text nor None."""
        if isinstance(cells, cls):
            return cells
        with suppress(TypeError):
            return cls(cells)
        with suppress(TypeError):
            return cls(["" if cell is None else cell for cell in cells])
        return None


def expand(items: Iterable[_T], mask: Iterable[object], fill: _Fill) -> list[_T | _Fill]:
    """Return the items where the mask is true and `fill` elsewhere: the inverse of `itertools.compress`.

    The mask is that of a batch, and mostly true.
    """
    expanded: list[_T | _Fill] = list(items)
    for index in [index for index, selected in enumerate(mask) if not selected]:
        expanded.insert(index, fill)
    return expanded


class UnreadableRecord(msgspec.Struct, frozen=True):
    """A record without readable fields: its number, its line if there is one, the issue, and its text if it is JSON."""

    record: int
    line: int | None
    issue: Issue
    text: str | None = None


class UnusedName(msgspec.Struct, frozen=True):
    """A column or JSON member that is not a field: its name, its first line, and the number of records with it."""

    name: str
    line: int | None
    records: int


class Batch(msgspec.Struct, frozen=True, eq=False):
    """Consecutive records of a file, by column.

    numbers         the number of each record in the file, from 1
    columns         field -> the cell of each record
    lines           returns the line on which each record begins, from 1, or None; it holds no cells
    unreadable      the records without cells; `numbers` does not include them
    unused          the columns or members that are not fields
    status_columns  unused columns that may say whether a store is open -> their cells
    as_of           the day that its closing dates were compared with; None if it has none
    done            how much of the file has been read, of `total`
    """

    numbers: Sequence[int]
    columns: Mapping[str, Sequence[Cell]]
    lines: Callable[[], Sequence[int | None]]
    unreadable: Sequence[UnreadableRecord]
    unused: Sequence[UnusedName]
    done: int
    total: int
    status_columns: Mapping[str, Sequence[Cell]] = {}
    as_of: date | None = None


class RecordFile(ABC):
    """The records of a file.

    names     its columns, in order; of JSON, the paths of the members of its first records
    line      the line of the names, if they are in one place
    assumed   what was assumed about the file, each in a few words
    is_table  whether all columns are in `names` and all cells are texts, as in CSV; otherwise `batches` takes other
              names, too: their cells are None in records without them
    is_exact  whether columns are named exactly like the fields, any of which a record may lack
    has_dates whether cells may be real dates, which are texts as in RFC 3339, whatever format is declared
    is_costly whether its first batch costs much more than its names
    """

    names: Sequence[str]
    line: int | None = None
    assumed: Sequence[str]
    is_table: bool = True
    is_exact: bool = False
    has_dates: bool = False
    is_costly: bool = False

    @abstractmethod
    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records in order, with the cells of some columns, by name, and `also` of others. Raises FileError.

        The names of the file that are not among `columns` are the `unused` ones of the batches.
        """


class CleanedFile(RecordFile):
    """The records of a file that is no table, whose cells are cleaned; its names stay."""

    def __init__(self, file: RecordFile, clean: Callable[[str], str]) -> None:
        self._file, self._clean = file, clean
        self.names, self.line, self.assumed = file.names, file.line, file.assumed
        self.is_table, self.is_costly = file.is_table, file.is_costly

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records of the file, cleaned."""
        clean = self._clean
        for batch in self._file.batches(columns, also):
            cleaned = {
                name: [clean(cell) if isinstance(cell, str) else cell for cell in cells]
                for name, cells in batch.columns.items()
            }
            yield msgspec.structs.replace(batch, columns=cleaned)

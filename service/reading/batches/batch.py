"""A batch: unchecked records of a file, by column."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import UnsetType

from service.reading.batches.diagnostics import Issue

BATCH_SIZE: Final = 1_024  # records; checks by column favour large batches, the CPU cache and the allocator small ones


class WrongType(msgspec.Struct, frozen=True):
    """A JSON value of a type that its field does not accept, as written."""

    text: str


class Invalid(msgspec.Struct, frozen=True):
    """A text that a mapping could not convert, and what it declared; `is_null` if it is null then, with a warning."""

    text: str
    issue: Issue
    is_null: bool = False


_T = TypeVar("_T")
_Fill = TypeVar("_Fill")
Cell: TypeAlias = str | bool | tuple[str, ...] | WrongType | Invalid | None
Value: TypeAlias = str | bool | tuple[str, ...] | msgspec.Raw | UnsetType | None


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

    numbers     the number of each record in the file, from 1
    columns     field -> the cell of each record
    lines       returns the line on which each record begins, from 1, or None; it holds no cells
    unreadable  the records without cells; `numbers` does not include them
    unused      the columns or members that are not fields
    watched     those of them that speak of open and closed, with their cells
    as_of       the day that its closing dates were compared with; None if it has none
    done        how much of the file has been read, of `total`
    """

    numbers: Sequence[int]
    columns: Mapping[str, Sequence[Cell]]
    lines: Callable[[], Sequence[int | None]]
    unreadable: Sequence[UnreadableRecord]
    unused: Sequence[UnusedName]
    done: int
    total: int
    watched: Mapping[str, Sequence[Cell]] = {}
    as_of: date | None = None

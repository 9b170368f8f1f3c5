"""Records as they stand in a file, before anything is checked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import UnsetType

from service.loading.faults import Flaw

BATCH_SIZE: Final = 1_024  # records; work by column wants many, the processor's cache and the allocator few


class Mistyped(msgspec.Struct, frozen=True):
    """A JSON value of a type that its field does not take, as it is written."""

    text: str


_T = TypeVar("_T")
_Absent = TypeVar("_Absent")
Cell: TypeAlias = str | bool | Mistyped | None
Value: TypeAlias = str | bool | UnsetType | None


def spread(items: Iterable[_T], chosen: Iterable[object], absent: _Absent) -> list[_T | _Absent]:
    """Return items at the places that are chosen, `absent` at the others."""
    rest = iter(items)
    return [next(rest) if here else absent for here in chosen]


class Broken(msgspec.Struct, frozen=True):
    """A record that has no fields to look at: its number, its line, what is wrong and its text, if it has one."""

    record: int
    line: int
    flaw: Flaw
    text: str | None = None


class Unused(msgspec.Struct, frozen=True):
    """A column, or a member of JSON records, that is not a field: its first line, and how many records have it."""

    name: str
    line: int
    records: int


class Batch(msgspec.Struct, frozen=True, eq=False):
    """Some records of a file, in its order, by column.

    numbers  the number of each record in the file, from 1
    columns  field -> the cell of each record
    lines    gives the line on which each record begins, from 1; called only where something is told of one
    broken   the records among them that have no cells; their numbers are not in `numbers`
    unused   the columns or members that are not fields
    done     how far the file is read, of `total`
    """

    numbers: Sequence[int]
    columns: Mapping[str, Sequence[Cell]]
    lines: Callable[[], Sequence[int]]
    broken: Sequence[Broken]
    unused: Sequence[Unused]
    done: int
    total: int

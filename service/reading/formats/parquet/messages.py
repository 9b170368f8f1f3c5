"""The messages to and from the process that reads a Parquet file."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from service.reading.batches.batch import WrongType

LENGTH_BYTES: Final = 8  # of the file, and of a message, before it


class ColumnRequest(msgspec.Struct, frozen=True):
    """The columns to read."""

    columns: Sequence[str]


class Opened(msgspec.Struct, frozen=True, tag=True):
    """The path of each column, or member of a nested one, with the column; and the number of records."""

    paths: dict[str, str]
    records: int


class RowBatch(msgspec.Struct, frozen=True, tag=True):
    """The next records: how many, and the cells of each requested column."""

    records: int
    columns: list[list[str | bool | WrongType | None]]


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The file cannot be used."""

    why: str


class End(msgspec.Struct, frozen=True, tag=True):
    """There are no more records."""


Message: TypeAlias = Opened | RowBatch | Unreadable | End

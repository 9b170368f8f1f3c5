"""The messages to and from the process that reads a Parquet file."""

from collections.abc import Sequence

import msgspec

from service.reading.batches.batch import WrongType


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

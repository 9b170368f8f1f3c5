"""The messages to and from the process that reads a workbook."""

from collections.abc import Sequence
from typing import Final

import msgspec

from service.reading.formats.table.rows import Row

UNREADABLE: Final = "not a workbook that can be read"
TOO_MUCH_MEMORY: Final = (
    f"{UNREADABLE}: it takes too much memory; delete cells that are far below the table, or far to the right of it;"
    " if there are none, save the sheet as CSV"
)


class SheetRequest(msgspec.Struct, frozen=True):
    """The sheet to read, how many of its rows to skip, and how many to read at most; None for all of them."""

    sheet: str
    skip: int = 0
    most: int | None = None


class Sheets(msgspec.Struct, frozen=True, tag=True):
    """The names of the sheets with cells: visible ones, then hidden ones."""

    names: list[str]


class SheetRows(msgspec.Struct, frozen=True, tag=True):
    """The next rows, the number of the first of them, from 1, and that of the last one of the sheet."""

    rows: Sequence[Row]
    first: int
    last: int

"""Rows of texts, as they are read from a file."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

Row: TypeAlias = Sequence[str]


class Rows(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of a file, including empty ones.

    lines  the line of the file on which each row begins, of a sheet its row
    done   how much of the file has been read after them, in the unit of `TableFile.total`
    """

    rows: Sequence[Row]
    lines: Sequence[int]
    done: int = 0

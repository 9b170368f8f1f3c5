"""Normalized keys, ranked in spools of a byte: all that the engine makes of them goes through files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from service.engine.columns.column import StringArray, join_keys
from service.engine.columns.ranking import Codes, rank
from service.spool import Spools

# Spools of which each has a byte in memory. Their files are many, and on a disk take longer than all the rest.
IN_FILES: Final = Spools(Path("/dev/shm"), 1 << 10)  # noqa: S108 - such a file has no name


def ranked(keys: Iterable[str | None]) -> tuple[Codes, StringArray]:
    """Return the codes of keys, and the sorted distinct ones."""
    spool = IN_FILES.new()
    spool.append(join_keys(list(keys)))
    return rank(spool, IN_FILES)

"""Normalized keys, ranked in spools of a few bytes: all that the engine makes of them goes through files."""

from collections.abc import Iterable

from service.engine.column import join_keys
from service.engine.ranking import Codes, rank
from service.engine.string_array import StringArray
from service.files.spool import Spools

TINY = 1 << 10  # bytes of memory: a spool has one of them


def ranked(keys: Iterable[str | None], memory: int = TINY) -> tuple[Codes, StringArray]:
    """Return the codes of keys, and the sorted distinct ones."""
    spools = Spools(memory=memory)
    spool = spools.new()
    spool.append(join_keys(list(keys)))
    return rank(spool, spools)

"""Many date-times, read by their date and their time of day: of those there are few, and each is read once.

This is for speed alone: `service.kinds` reads each of them the same, and reads here what has an offset.
"""

from functools import lru_cache
from typing import Final

from service.kinds import moment_microseconds, rank_instant, read_instant, write_instant

_FIRST_DATE: Final = "0001-01-01"
_DATE: Final = len(_FIRST_DATE)
_MANY: Final = 2**17  # more than there are seconds in a day


def rewrite(text: str) -> str | None:
    """Return a date-time of a data file as it is answered, or None where it is none."""
    if text.endswith("Z"):
        clock = _clock(text[_DATE:])
        return None if clock is None or _midnight(text[:_DATE]) is None else text[:_DATE] + clock[0]
    moment = read_instant(text)
    return None if moment is None else write_instant(moment)


def rank(text: str) -> str:
    """Return what `service.kinds.rank_instant` does, of a date-time as it is answered."""
    midnight, clock = _midnight(text[:_DATE]), _clock(text[_DATE:])
    return rank_instant(text) if midnight is None or clock is None else f"{midnight + clock[1]:018d}"


@lru_cache(_MANY)
def _midnight(date: str) -> int | None:
    moment = read_instant(date) if len(date) == _DATE else None
    return None if moment is None else moment_microseconds(moment)


@lru_cache(_MANY)
def _clock(time: str) -> tuple[str, int] | None:
    """Return a time of day as it is answered, and as microseconds since midnight."""
    moment = read_instant(_FIRST_DATE + time)
    return None if moment is None else (write_instant(moment)[_DATE:], moment_microseconds(moment))

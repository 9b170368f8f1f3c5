"""How much a key may ask."""

import re
from typing import Final

import msgspec

_PERIODS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
MOST_REQUESTS: Final = 999_999_999
_WRITTEN: Final = re.compile(rf"(?P<requests>[1-9][0-9]{{0,8}})/(?P<period>{'|'.join(_PERIODS)})")


class Rate(msgspec.Struct, frozen=True):
    """So many requests in a period of seconds, spread evenly; up to `burst` of them at once, after a rest."""

    requests: int
    seconds: int
    burst: int

    def __str__(self) -> str:
        """Return the rate as it is written, without its burst."""
        period = next(name for name, seconds in _PERIODS.items() if seconds == self.seconds)
        return f"{self.requests}/{period}"


def read_rate(text: str, burst: int | None = None) -> Rate:
    """Return the rate of a text such as `100/s`; the burst is as large where none is given.

    Raises `ValueError`, which says why, where it is none.
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise ValueError(f"{text!r} is no rate: write it as 100/s, with one of {', '.join(_PERIODS)}")
    requests = int(written["requests"])
    if burst is not None and not 1 <= burst <= MOST_REQUESTS:
        raise ValueError(f"{burst} is no burst: it is 1 to {MOST_REQUESTS}")
    return Rate(requests, _PERIODS[written["period"]], requests if burst is None else burst)

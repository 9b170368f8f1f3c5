"""Request rate limits of keys, such as `100/s`."""

import re
from typing import Final

import msgspec

_PERIODS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
MAX_REQUESTS: Final = 999_999_999
_FORM: Final = re.compile(rf"(?P<requests>[1-9][0-9]{{0,8}})/(?P<period>{'|'.join(_PERIODS)})")


class Rate(msgspec.Struct, frozen=True):
    """A number of requests per period of seconds, spread evenly, with up to `burst` of them at once."""

    requests: int
    seconds: int
    burst: int

    def __str__(self) -> str:
        """Return the rate as it is written, without its burst."""
        period = next(name for name, seconds in _PERIODS.items() if seconds == self.seconds)
        return f"{self.requests}/{period}"


def parse_rate(text: str, burst: int | None = None) -> Rate:
    """Return the rate of a text such as `100/s`; the default burst is the requests of one period.

    Raises `ValueError` with the reason.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rate: write it as 100/s, with one of {', '.join(_PERIODS)}")
    requests = int(match["requests"])
    if burst is not None and not 1 <= burst <= MAX_REQUESTS:
        raise ValueError(f"a burst of {burst} is out of range: it must be 1 to {MAX_REQUESTS}")
    return Rate(requests, _PERIODS[match["period"]], requests if burst is None else burst)

"""Long work: what looks at many rows is refused where it would hold up others, and done in a thread instead."""

import math
import threading
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

# To look at as many rows takes about a millisecond.
MOST_ROWS = 100_000

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


class LongWork(Exception):
    """A query looks at more than `MOST_ROWS` rows."""


class _Allowance(threading.local):
    """How many rows this thread may look at until `at_once` returns."""

    rows: float = math.inf


_left: Final = _Allowance()


def at_once(make: Callable[_Given, _Made], *args: _Given.args, **kwargs: _Given.kwargs) -> _Made:
    """Return what a function makes if that takes at most milliseconds. Raises `LongWork`, as soon as it is known."""
    _left.rows = MOST_ROWS
    try:
        return make(*args, **kwargs)
    finally:
        _left.rows = math.inf


def announce(rows: int) -> None:
    """Announce that as many rows will be looked at, or more work be done that takes as long.

    Raises `LongWork` within `at_once` if these and those announced before are too many.
    """
    _left.rows -= rows
    if _left.rows < 0:
        raise LongWork

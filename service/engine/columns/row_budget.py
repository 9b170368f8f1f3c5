"""The row budget of a query on the event loop: a query over budget is rerun in a thread."""

import math
import threading
from collections.abc import Callable
from typing import Final, TypeVar

# Looking at this many rows takes about a millisecond.
MOST_ROWS = 100_000
# In the time of looking at one row, NumPy compares so many codes that follow each other, or looks up so many bits.
COMPARED: Final = 32
LOOKED_UP: Final = 6

_Result = TypeVar("_Result")


class OverBudget(Exception):
    """A query needs more work than to look at `MOST_ROWS` rows."""


class _Budget(threading.local):
    """The rows that this thread may still look at until `within_budget` returns."""

    rows: float = math.inf


_left: Final = _Budget()


def within_budget(query: Callable[[], _Result]) -> _Result:
    """Run a query that may look at `MOST_ROWS` rows. Raises `OverBudget` before it looks at more."""
    _left.rows = MOST_ROWS
    try:
        return query()
    finally:
        _left.rows = math.inf


def spend(rows: int) -> None:
    """Spend the budget for a number of rows before looking at them, or before other work that takes as long.

    Raises `OverBudget` if the query exceeds its budget; outside of `within_budget` there is no limit.
    """
    _left.rows -= rows
    if _left.rows < 0:
        raise OverBudget

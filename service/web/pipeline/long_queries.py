"""Long queries: they run in a thread in order of arrival, and few may wait."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import ContextVar
from typing import Final, TypeVar

from service.model.errors import TooManyLongQueries

# At most this many wait or run at a time: in a process, and of one key. More would not be answered in time.
MOST = 64
MOST_OF_A_KEY = 4

# The name of the key of the current request. Without keys clients cannot be told apart: behind a proxy they share an
# address.
current_key: Final = ContextVar[str | None]("current_key", default=None)
_keys: Final = list[str | None]()  # of the queries that wait or run

_Result = TypeVar("_Result")


async def in_turn(threads: Executor, query: Callable[[], _Result]) -> _Result:
    """Run a long query in one of some threads, unless its request is cancelled before it begins.

    Raises `TooManyLongQueries`.
    """
    key = current_key.get()
    if len(_keys) >= MOST or (key is not None and _keys.count(key) >= MOST_OF_A_KEY):
        raise TooManyLongQueries
    _keys.append(key)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, _without_stop, query)
    finally:
        _keys.remove(key)


def _without_stop(query: Callable[[], _Result]) -> _Result:
    """Return what a function returns. Raises `RuntimeError` for a `StopIteration`, which no future passes on."""
    try:
        return query()
    except StopIteration as error:
        raise RuntimeError("a query raised StopIteration") from error

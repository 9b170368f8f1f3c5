"""Long queries: they wait for a thread, in order, and few of them may."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import ContextVar
from typing import Final, TypeVar

from service.model.errors import TooManyLongQueries

# At most as many wait or are answered at a time: in a process, and of a key. A client has few at once; many others that
# wait for it would not get their answers in time.
MOST = 64
MOST_OF_A_KEY = 4

# The name of the key of the current request. Without keys clients cannot be told apart: behind a proxy they share an
# address.
current_key: Final = ContextVar[str | None]("current_key", default=None)
_keys: Final = list[str | None]()  # of those that wait or are answered

_Found = TypeVar("_Found")


async def in_turn(threads: Executor, find: Callable[[], _Found]) -> _Found:
    """Return what a long query finds in one of some threads. A query is not begun if its request is cancelled before.

    Raises `TooManyLongQueries`.
    """
    key = current_key.get()
    if len(_keys) >= MOST or (key is not None and _keys.count(key) >= MOST_OF_A_KEY):
        raise TooManyLongQueries
    _keys.append(key)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, _without_stop, find)
    finally:
        _keys.remove(key)


def _without_stop(find: Callable[[], _Found]) -> _Found:
    """Return what a function returns. Raises `RuntimeError` for a `StopIteration`, which no future passes on."""
    try:
        return find()
    except StopIteration as error:
        raise RuntimeError("a query raised StopIteration") from error

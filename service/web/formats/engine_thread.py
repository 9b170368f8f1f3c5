"""The thread of the engine: where queries are answered that would hold the event loop for milliseconds."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from service.engine.long_work import LongWork, at_once

# One query after the other: they take memory. NumPy lets the event loop run meanwhile.
_THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="engine")

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


async def found(find: Callable[_Given, _Found], *args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
    """Return what a query finds: at once, or if that takes long in the thread. What was found until then is cached."""
    try:
        return at_once(find, *args, **kwargs)
    except LongWork:
        return await asyncio.get_running_loop().run_in_executor(_THREAD, partial(find, *args, **kwargs))

"""The thread of the engine: where queries are answered that would hold the event loop for milliseconds."""

from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from service.background_threads import background_threads
from service.engine.long_work import LongWork, at_once
from service.web.pipeline.long_queries import in_turn

# One query after the other: they take memory. NumPy lets the event loop run meanwhile.
_THREAD: Final = background_threads(1, "engine")

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


async def found(find: Callable[_Given, _Found], *args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
    """Return what a query finds: at once, or if that takes long in the thread. What was found until then is cached.

    Raises `TooManyLongQueries`.
    """
    try:
        return at_once(find, *args, **kwargs)
    except LongWork:
        pass  # to wait here would make it the context of an error, and a cycle with this frame
    return await in_turn(_THREAD, partial(find, *args, **kwargs))

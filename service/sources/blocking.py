"""Blocking work on files, in a thread."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


async def run_to_end(
    work: Callable[_Arguments, _Result], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """Run work in a thread and wait for its end, even when cancelled: a thread cannot be cancelled.

    So no file is closed or removed while a thread still works on it.
    """
    working = asyncio.get_running_loop().run_in_executor(None, partial(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise

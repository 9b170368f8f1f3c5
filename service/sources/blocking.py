"""Work on files, in a thread."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


async def run_to_end(work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs) -> _Result:
    """Do work in a thread and wait for its end, even when cancelled: a thread cannot be.

    So nobody closes or removes a file while work on it goes on.
    """
    working = asyncio.get_running_loop().run_in_executor(None, partial(work, *given, **named))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise

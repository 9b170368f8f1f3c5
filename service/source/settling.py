"""Waiting until files are left alone."""

import asyncio
from collections.abc import Callable
from time import monotonic, time

from service.loading.look import Look


async def settled(look: Callable[[], Look]) -> Look:
    """Return what files look like once they have been left alone for as long as their look asks.

    Clocks of file systems may go wrong: what has looked the same for so long here counts, too.
    """
    seen, since = await asyncio.to_thread(look), monotonic()
    while (left := seen.patience - max(time() - seen.changed_at, monotonic() - since)) > 0:
        await asyncio.sleep(min(left, seen.patience))
        again = await asyncio.to_thread(look)
        if again.fingerprint != seen.fingerprint:
            since = monotonic()
        seen = again
    return seen

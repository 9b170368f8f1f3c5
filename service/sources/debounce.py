"""Waiting until files are left alone."""

import asyncio
from collections.abc import Callable
from time import monotonic, time
from typing import Final

from service.loading.folder_signature import DataSignature

_OLD_SECONDS: Final = 60


async def wait_until_stable(look: Callable[[], DataSignature]) -> DataSignature:
    """Return what files look like once they have been left alone for as long as their look asks.

    The time counts from the first look, as clocks of file systems may be wrong: only what is old by far needs no wait.
    """
    seen, since = await asyncio.to_thread(look), monotonic()
    while time() - seen.changed_at < _OLD_SECONDS and (left := seen.quiet_seconds - (monotonic() - since)) > 0:
        await asyncio.sleep(left)
        again = await asyncio.to_thread(look)
        if again.fingerprint != seen.fingerprint:
            since = monotonic()
        seen = again
    return seen

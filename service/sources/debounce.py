"""Debouncing: waiting until files stop changing."""

import asyncio
from collections.abc import Callable
from time import monotonic, time
from typing import Final

from service.loading.folder_signature import DataSignature

# File systems' clocks may be wrong. Files that seem older than this are stable without a wait.
_OLD_SECONDS: Final = 60


async def wait_until_stable(read_signature: Callable[[], DataSignature]) -> DataSignature:
    """Return the signature of files once it has not changed for its own `quiet_seconds`.

    That time is measured by our clock, from the first read on.
    """
    signature, since = await asyncio.to_thread(read_signature), monotonic()
    while (
        time() - signature.changed_at < _OLD_SECONDS and (left := signature.quiet_seconds - (monotonic() - since)) > 0
    ):
        await asyncio.sleep(left)
        previous, signature = signature, await asyncio.to_thread(read_signature)
        if signature.fingerprint != previous.fingerprint:
            since = monotonic()
    return signature

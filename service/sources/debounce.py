"""Debouncing: fetching files once they stop changing."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import Final

from service.loading.acceptance import Refused
from service.loading.folder_signature import DataSignature
from service.sources.source import Check, Fetched, Rejected

# File systems' clocks may be wrong. Files that seem older than this are stable without a wait.
_OLD_SECONDS: Final = 60


async def fetch_stable(
    read_signature: Callable[[], DataSignature],
    fetch: Callable[[str], Awaitable[Fetched]],
    *,
    known: str,
    check: Check,
) -> Fetched | None:
    """Call `fetch` with the fingerprint of files once they stop changing; see `Source`.

    Files that changed meanwhile may have been read in an inconsistent state, so they are fetched again.
    """
    while True:
        fingerprint = (await wait_until_stable(read_signature)).fingerprint
        if fingerprint == known:
            return None
        try:
            fetched = await fetch(fingerprint)
            check(fetched.summary.totals)
        except Refused as refused:
            if (await wait_until_stable(read_signature)).fingerprint == fingerprint:
                raise Rejected.by(refused, fingerprint) from None
        else:
            return fetched


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

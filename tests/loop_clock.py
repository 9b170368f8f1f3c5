"""The clock of the running event loop, which a test moves: what waits for a timeout need not wait."""

import asyncio
from time import monotonic


def advance(seconds: float) -> None:
    """Let so much time pass for the loop of asyncio: timeouts that are over by then come next."""
    loop = asyncio.get_running_loop()
    ahead = loop.time() - monotonic() + seconds
    vars(loop)["time"] = lambda: monotonic() + ahead

"""A scripted source, and a publisher over it that records its publications."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

from service.background import Progress
from service.dataset import Rejected, Safeguards, Summary, Totals
from service.publishing.publisher import Publisher
from service.publishing.source import Check, Fetched
from service.publishing.workspace import Publication, Workspace
from tests.program import SECONDS

Step = Fetched | Exception | None


class Script:
    """A source with one step per fetch, and unchanged afterwards.

    known  the known fingerprint of each fetch
    at     time of each fetch, in seconds by the clock of the event loop
    seen   what a look at its files returns
    """

    name = "a script"

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self.known: list[str] = []
        self.at: list[float] = []
        self.seen = ""

    def look(self) -> str:
        return self.seen

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:  # noqa: ARG002 - nothing takes time
        self.known.append(known)
        self.at.append(asyncio.get_running_loop().time())
        step = self._steps.pop(0) if self._steps else None
        if step is not None:
            write(to, b"half" if isinstance(step, Exception) else b"whole")
        if isinstance(step, Exception):
            raise step
        if step is not None:
            try:
                check(step.summary.totals)
            except Rejected as rejected:
                raise Rejected.by(rejected.rejection, fingerprint=step.fingerprint) from None
        return step


def write(to: Path, content: bytes) -> None:
    to.write_bytes(content)


def fetched(
    fingerprint: str,
    *notes: str,
    stores: int = 1,
    confirmed_at: datetime | None = None,
    generated_at: datetime | None = None,
) -> Fetched:
    totals = Totals(stores=stores, companies=1, skipped=0, repeated=0)
    summary = Summary(fingerprint, generated_at, totals)
    return Fetched(fingerprint=fingerprint, summary=summary, notes=notes, confirmed_at=confirmed_at)


class Published:
    """A publisher over a script.

    all  its publications, in order
    """

    def __init__(self, script: Script, workspace: Workspace, *, poll_seconds: float = 0.005) -> None:
        self.all: list[Publication] = []
        self._event = asyncio.Event()
        self.publisher = Publisher(script, workspace, self._record, safeguards=Safeguards(), poll_seconds=poll_seconds)

    async def _record(self, publication: Publication) -> None:
        self.all.append(publication)
        self._event.set()

    async def until(self, count: int) -> list[Publication]:
        """Wait for this many publications, and return them."""
        async with asyncio.timeout(SECONDS):
            while len(self.all) < count:
                self._event.clear()
                await self._event.wait()
        return self.all[:count]

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Published"]:
        """Run the publisher until the block ends."""
        task = asyncio.create_task(self.publisher.run())
        try:
            yield self
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

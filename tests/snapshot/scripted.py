"""A source that does what it is told to, and what a publisher makes of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

from service.loading.acceptance import Refused, Safeguards
from service.loading.dataset import Summary, Totals
from service.progress import Progress
from service.snapshot.publication import Publication
from service.snapshot.publisher import Publisher
from service.snapshot.workspace import Workspace
from service.sources.source import Check, Fetched, Rejected
from tests.program import SECONDS

Step = Fetched | Exception | None


class Script:
    """A source that takes one step each time it is asked, and is unchanged from then on.

    seen   what it was told was seen, each time
    at     when it was asked, in seconds by the clock of the loop
    """

    name = "a script"
    watched: Sequence[Path] = ()

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self.known: list[str] = []
        self.at: list[float] = []

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:  # noqa: ARG002 - nothing takes long
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
            except Refused as refused:
                raise Rejected.by(refused, step.fingerprint) from None
        return step


def write(to: Path, content: bytes) -> None:
    to.write_bytes(content)


def taken(
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
    """Runs a publisher over a script, and keeps what is told of each publication.

    told  the publications, in order
    """

    def __init__(self, script: Script, workspace: Workspace, *, poll_seconds: float = 0.005) -> None:
        self.told: list[Publication] = []
        self._news = asyncio.Event()
        self.publisher = Publisher(script, workspace, self._note, safeguards=Safeguards(), poll_seconds=poll_seconds)

    async def _note(self, publication: Publication) -> None:
        self.told.append(publication)
        self._news.set()

    async def until(self, count: int) -> list[Publication]:
        """Wait until there were so many publications, and return them."""
        async with asyncio.timeout(SECONDS):
            while len(self.told) < count:
                self._news.clear()
                await self._news.wait()
        return self.told[:count]

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Published"]:
        """Run the publisher meanwhile."""
        task = asyncio.create_task(self.publisher.run())
        try:
            yield self
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

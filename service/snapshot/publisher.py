"""Looking after the source: what it holds is published, whenever that changes."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

import msgspec

from service.loading.acceptance import Safeguards, advice
from service.progress import Progress, silent
from service.snapshot.file_watcher import changes
from service.snapshot.publication import Publication, Reload, last_modified
from service.snapshot.workspace import Workspace
from service.sources.source import Fetched, Rejected, Source, Unavailable

# After a failure the source is asked again soon, then less and less often.
_FIRST_RETRY_SECONDS: Final = 0.5
_LAST_RETRY_SECONDS: Final = 60.0
# Many replicas of one origin should not ask it in step.
_JITTER: Final = 0.1
# What a source says may be long, and of several lines.
_LONGEST_MESSAGE: Final = 500
_log = logging.getLogger(__name__)


class Publisher:
    """Publishes what a source holds in a workspace, and tells `published` of each publication, the failed ones too.

    safeguards    what a data set must keep to
    poll_seconds  how often the source is looked at where nothing tells of a change
    progress      is told of the first compilation

    `first` is set once this process looks after the source and no data is published yet: none of the run has any.
    """

    def __init__(  # noqa: PLR0913 - what it looks after and for whom, then its settings
        self,
        source: Source,
        workspace: Workspace,
        published: Callable[[Publication], Awaitable[None]],
        *,
        safeguards: Safeguards,
        poll_seconds: float,
        progress: Progress = silent,
    ) -> None:
        self._source, self._workspace, self._published = source, workspace, published
        self._safeguards, self._poll_seconds, self._progress = safeguards, poll_seconds, progress
        self.first = asyncio.Event()
        self._woken = asyncio.Event()
        self._forced = False
        self._failures = 0
        self._last = Publication()

    def reload(self) -> None:
        """Take the source now, whether it changed or not."""
        self._forced = True
        self._woken.set()

    async def run(self) -> None:
        """Publish what the source holds until cancelled. Raises `Rejected` where there is nothing to serve instead."""
        self._forced = False  # what was asked for before this process leads was another's to do
        await self._take_over()
        if not self._last.generation:
            self.first.set()
        async with self._watching():
            while True:
                self._woken.clear()
                delay = await self._attempt()
                if self._failures:  # whatever changes meanwhile: a disk that fills may itself be what changes
                    await asyncio.sleep(_FIRST_RETRY_SECONDS)
                with suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await self._woken.wait()

    async def _take_over(self) -> None:
        """Go on from what is published, by a process that led before, say."""
        while True:
            try:
                self._last = self._workspace.publication()
            except OSError as error:  # of too many open files, say
                _log.warning("what is published cannot be read: %s", error.strerror)
                await asyncio.sleep(_FIRST_RETRY_SECONDS)
            else:
                return await self._tidy()

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _watch(self) -> None:
        async for _ in changes(lambda: self._source.watched):
            self._woken.set()

    async def _attempt(self) -> float:
        """Look at the source once; return after how many seconds to do so again."""
        last = self._last
        lost = last.generation and not self._workspace.file(last).exists()  # where somebody cleaned up
        seen, self._forced = "" if self._forced or lost else last.seen, False
        try:
            taken = await self._take(last, seen)
        except Rejected as rejected:
            if not last.generation:
                raise
            await self._fail(rejected, seen=rejected.fingerprint)
        except (Unavailable, OSError) as error:
            await self._fail(error, seen=last.fingerprint)  # so that what may be refused is looked at again
            return self._backoff()
        except Exception as error:
            _log.exception("a fault of ours")  # what is served goes on being served
            if not last.generation:  # or else several workers would be replaced without end
                raise Rejected(f"a fault of ours: {error}", fingerprint="") from error
            await self._fail(error, seen=last.fingerprint)
            return self._backoff()
        else:
            if taken is not None and taken.confirmed_at is not None:
                return 0
        self._failures = 0
        return self._poll_seconds * random.uniform(1 - _JITTER, 1 + _JITTER)

    async def _take(self, last: Publication, seen: str) -> Fetched | None:
        """Publish what the source holds, where that is new; return it. Raises `Rejected`, `Unavailable` and OSError."""
        asked_at = datetime.now(UTC)
        to = self._workspace.new_file()
        check = partial(self._safeguards.check, served=last.compared)
        taken = await self._source.take(to, seen=seen, check=check, progress=self._progress)
        if taken is None:
            await self._tell(_unchanged(last, asked_at))
            if last.last_reload != self._last.last_reload:
                _log.info("%s: in order again, and unchanged", self._source.name)
            return None
        await self._publish(renewed(last, taken, to.name, asked_at))
        self._progress = silent
        for note in taken.notes:
            _log.warning("%s", note)
        return taken

    def _backoff(self) -> float:
        longest = min(_FIRST_RETRY_SECONDS * 2**self._failures, _LAST_RETRY_SECONDS)
        self._failures += longest < _LAST_RETRY_SECONDS
        return random.uniform(longest / 2, longest)

    async def _publish(self, publication: Publication) -> None:
        """Publish new data. Raises OSError, after which nothing has changed."""
        await asyncio.to_thread(self._workspace.publish, publication)
        self._last = publication
        await self._tidy()
        await self._published(publication)

    async def _tidy(self) -> None:
        with suppress(OSError):  # the next time, then
            await asyncio.to_thread(self._workspace.tidy, self._last)

    async def _fail(self, error: Exception, *, seen: str) -> None:
        """Tell of a failed attempt: once, not each time it fails in the same way."""
        last, why = self._last, " ".join(str(error).split())[:_LONGEST_MESSAGE]
        if last.last_reload is None or last.last_reload.error != why:
            what_now = "what was served stays" if last.generation else "trying again"
            hint = advice(self._source.name, error.cause) if isinstance(error, Rejected) else ""
            _log.warning("%s", "; ".join(filter(None, (why, what_now, hint))))
        failed = Reload(datetime.now(UTC), ok=False, error=why)
        await self._tidy()
        await self._tell(msgspec.structs.replace(last, seen=seen, last_reload=failed))

    async def _tell(self, publication: Publication) -> None:
        """Publish what is known of the data that is published already."""
        self._last = publication
        with suppress(OSError):  # on a full disk this process knows of it all the same
            await asyncio.to_thread(self._workspace.publish, publication)
        await self._published(publication)


def renewed(last: Publication, taken: Fetched, file: str, asked_at: datetime) -> Publication:
    """Return the publication of new data, which was asked for at a time and lies in a file of the workspace."""
    now = datetime.now(UTC)
    dates = [date for date in (last.latest, taken.summary.generated_at) if date is not None and date <= now]
    return Publication(
        generation=last.generation + 1,
        file=file,
        summary=taken.summary,
        modified=last_modified(last, taken.summary, now),
        latest=max(dates, default=None),
        unconfirmed=taken.confirmed_at is not None and (last.unconfirmed or not last.generation),
        fingerprint=taken.fingerprint,
        seen=taken.fingerprint,
        loaded_at=now,
        confirmed_at=taken.confirmed_at or asked_at,
        last_reload=Reload(now, ok=True),
    )


def _unchanged(last: Publication, asked_at: datetime) -> Publication:
    """Confirm what is served, unless what the source holds is refused."""
    if last.seen != last.fingerprint:
        return last
    reload = last.last_reload if last.last_reload and last.last_reload.ok else Reload(datetime.now(UTC), ok=True)
    return msgspec.structs.replace(last, unconfirmed=False, confirmed_at=asked_at, last_reload=reload)

"""The publisher: fetches the source whenever it changes, and publishes the data."""

import asyncio
import errno
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final

import msgspec

from service.background import Progress, silent
from service.dataset import Rejected, Safeguards
from service.publishing.source import Fetched, Source, Unavailable
from service.publishing.workspace import Publication, Reload, Workspace, last_modified

# Interval of looks at the files of a source; looking takes at most a fiftieth of the time of a core.
_LOOK_SECONDS: Final = 0.2
_LOOK_PAUSES: Final = 49
_log = logging.getLogger(__name__)

# Exponential backoff after failures.
_FIRST_RETRY_SECONDS: Final = 0.5
_LAST_RETRY_SECONDS: Final = 60.0
# Each attempt may fill the disk again.
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_TIMES_LONGER_IF_FULL: Final = 10
# Jitter: keeps instances from polling one origin at the same moment.
_JITTER: Final = 0.1


class Publisher:
    """Publishes the data of a source in a workspace. Calls `on_publish` after each attempt, failed ones included.

    safeguards    limits of a data set
    poll_seconds  interval of fetches without a change that a look shows
    progress      receives the progress of the first fetch
    leads_empty   set once this process leads the run and no data is published yet
    """

    def __init__(  # noqa: PLR0913 - collaborators, then settings
        self,
        source: Source,
        workspace: Workspace,
        on_publish: Callable[[Publication], Awaitable[None]],
        *,
        safeguards: Safeguards,
        poll_seconds: float,
        progress: Progress = silent,
    ) -> None:
        self._source, self._workspace, self._on_publish = source, workspace, on_publish
        self._safeguards, self._poll_seconds, self._progress = safeguards, poll_seconds, progress
        self.leads_empty = asyncio.Event()
        self._woken = asyncio.Event()
        self._requested_at: datetime | None = None  # of a reload that has not begun
        self._failures = 0
        self._last = Publication()

    def reload(self) -> None:
        """Fetch the source now, whether it changed or not."""
        self._requested_at = datetime.now(UTC)
        self._woken.set()

    @property
    def reload_pending(self) -> bool:
        """Whether a fetch that `reload` requested has not begun."""
        return self._requested_at is not None

    async def run(self) -> None:
        """Publish until cancelled. Raises `Rejected` if the data is rejected and there is no other to serve."""
        await self._resume()
        reloaded = self._last.last_reload
        if self._requested_at and reloaded and self._requested_at <= reloaded.at:
            self._requested_at = None  # the previous leader has done it
        if not self._last.generation:
            self.leads_empty.set()
        watch = asyncio.create_task(self._watch())
        try:
            while True:
                self._woken.clear()
                delay = await self._attempt()
                if self._failures:  # even after a change: what fills a disk may itself be the change
                    await asyncio.sleep(_FIRST_RETRY_SECONDS)
                with suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await self._woken.wait()
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _resume(self) -> None:
        """Continue from the publication of the previous leader, if any."""
        while True:
            try:
                self._last = self._workspace.publication()
            except OSError as error:  # too many open files, for example
                _log.warning("the publication cannot be read: %s", error.strerror)
                await asyncio.sleep(_FIRST_RETRY_SECONDS)
            else:
                return await self._tidy()

    async def _watch(self) -> None:
        """Wake when the files of the source change: a look at them works on every file system, unlike notifications."""
        seen, began = "", monotonic()
        while looked := await asyncio.to_thread(self._source.look):
            if looked != seen:
                self._woken.set()
            seen = looked
            await asyncio.sleep(max(_LOOK_SECONDS, _LOOK_PAUSES * (monotonic() - began)))
            began = monotonic()

    async def _attempt(self) -> float:
        """Fetch the source once; return the seconds until the next attempt."""
        last = self._last
        lost = last.generation and not self._workspace.file(last).exists()  # someone removed the file
        known, self._requested_at = "" if self._requested_at or lost else last.known, None
        try:
            fetched = await self._fetch(last, known)
        except Rejected as rejected:
            if not last.generation:
                raise
            await self._report_failure(rejected, known=rejected.rejection.fingerprint)
        except (Unavailable, OSError) as error:
            await self._report_failure(error, known=last.fingerprint)  # so that refused data is fetched again
            is_full = getattr(error.__cause__ or error, "errno", None) in _FULL
            return self._backoff() * (_TIMES_LONGER_IF_FULL if is_full else 1)
        except Exception as error:
            _log.exception("unexpected error")  # the served data stays
            if not last.generation:  # else the workers would be restarted forever
                raise Rejected(f"unexpected error: {error}") from error
            await self._report_failure(error, known=last.fingerprint)
            return self._backoff()
        else:
            if fetched is not None and fetched.confirmed_at is not None:
                return 0  # the last good copy
        self._failures = 0
        return self._poll_seconds * random.uniform(1 - _JITTER, 1 + _JITTER)

    async def _fetch(self, last: Publication, known: str) -> Fetched | None:
        """Fetch and publish new data of the source, if any. Raises `Rejected`, `Unavailable` and OSError."""
        requested_at = datetime.now(UTC)
        to = self._workspace.new_file()
        served = None if last.summary is None else last.summary.totals  # of the last good copy, too
        check = partial(self._safeguards.check, served=served)
        fetched = await self._source.fetch(to, known=known, check=check, progress=self._progress)
        if fetched is None:
            await self._publish_status(_unchanged(last, requested_at))
            if last.last_reload != self._last.last_reload:
                _log.info("%s: available again, and unchanged", self._source.name)
            return None
        await self._publish(next_publication(last, fetched, to.name, requested_at))
        self._progress = silent
        for assumed in fetched.assumed:
            _log.info("%s", assumed)
        for note in fetched.notes:
            _log.warning("%s", note)
        for name in last.summary.attributes if last.summary else ():
            if name not in fetched.summary.attributes:
                _log.warning("%s: no longer declared", name)
        return fetched

    def _backoff(self) -> float:
        longest = min(_FIRST_RETRY_SECONDS * 2**self._failures, _LAST_RETRY_SECONDS)
        self._failures += longest < _LAST_RETRY_SECONDS
        return random.uniform(longest / 2, longest)

    async def _publish(self, publication: Publication) -> None:
        """Publish new data. Raises OSError, after which nothing has changed."""
        await asyncio.to_thread(self._workspace.publish, publication)
        self._last = publication
        await self._tidy()
        await self._on_publish(publication)

    async def _tidy(self) -> None:
        with suppress(OSError):  # the next call tries again
            await asyncio.to_thread(self._workspace.tidy, self._last)

    async def _report_failure(self, error: Exception, *, known: str) -> None:
        """Publish a failed attempt, and log it unless the previous one failed with the same message."""
        last, why = self._last, " ".join(str(error).split())[:500]  # it may be long, and have several lines
        if last.last_reload is None or last.last_reload.error != why:
            consequence = "the previous data is still served" if last.generation else "retrying"
            hint = error.rejection.hint if isinstance(error, Rejected) else ""
            _log.warning("%s", "; ".join(filter(None, (why, consequence, hint))))
        failed = Reload(datetime.now(UTC), ok=False, error=why)
        await self._tidy()
        await self._publish_status(msgspec.structs.replace(last, known=known, last_reload=failed))

    async def _publish_status(self, publication: Publication) -> None:
        """Publish a new status of the data that is already published."""
        self._last = publication
        with suppress(OSError):  # a full disk; this process has the status anyway
            await asyncio.to_thread(self._workspace.publish, publication)
        await self._on_publish(publication)


def next_publication(last: Publication, fetched: Fetched, file: str, requested_at: datetime) -> Publication:
    """Return the publication of data fetched since `requested_at`, into a file of the workspace unless in place."""
    now = datetime.now(UTC)
    dates = [date for date in (last.latest, fetched.summary.generated_at) if date is not None and date <= now]
    return Publication(
        generation=last.generation + 1,
        file=fetched.file or file,
        signature=fetched.signature,
        summary=fetched.summary,
        modified=last_modified(last, fetched.summary, now),
        latest=max(dates, default=None),
        fingerprint=fetched.fingerprint,
        known=fetched.fingerprint,
        loaded_at=now,
        confirmed_at=fetched.confirmed_at or requested_at,
        last_reload=Reload(now, ok=True),
    )


def _unchanged(last: Publication, requested_at: datetime) -> Publication:
    """Return the publication confirmed by the source, which is unchanged, unless it holds refused data."""
    if last.known != last.fingerprint:
        return last
    reload = last.last_reload if last.last_reload and last.last_reload.ok else Reload(datetime.now(UTC), ok=True)
    return msgspec.structs.replace(last, confirmed_at=requested_at, last_reload=reload)

"""A baked file on the web, taken with HTTP."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from aiohttp import ClientResponse, ClientSession, ClientTimeout

from service import __version__
from service.baking.baked_file import read_baked
from service.baking.characters import UnicodeMismatch
from service.baking.layout import DamagedFile
from service.loading.acceptance import InvalidRecords, Refused, accept
from service.loading.dataset import Summary
from service.progress import Progress
from service.sources.blocking import run_to_end
from service.sources.download import Download
from service.sources.fetch_errors import unavailable
from service.sources.last_good_copy import LastGoodCopy
from service.sources.origin_validators import conditions, fingerprint
from service.sources.source import Check, Fetched, Rejected, Unavailable

_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": f"store-directory/{__version__}"}
# Half a minute of silence is an origin that is gone. What takes longer than `total` goes on in another attempt.
_TIMEOUT: Final = ClientTimeout(total=600, sock_connect=10, sock_read=30)
# Seconds before another attempt, one after the other while nothing is gained: an origin that restarts, or a link that
# is down for a moment, is back by then; what lasts longer is for the next time that somebody asks.
_PAUSES: Final = (1.0, 4.0, 16.0)
# In all, each as long as `total`: two gigabytes at 256 kbit/s. An origin that gives a byte at a time comes to an end.
_MOST_ATTEMPTS: Final = 100
_log = logging.getLogger(__name__)
_BUFFER: Final = 1 << 16  # bytes that wait while the disk writes: few, as they are lost where the connection is cut


class UrlSource:
    """A baked file at an http or https address, and its last good copy, which is kept in a folder.

    That copy is what is taken first, if there is one: a start does not wait for the origin. Raises ValueError for
    another address.
    """

    watched: Sequence[Path] = ()

    def __init__(
        self, url: str, cache: Path, *, timeout: ClientTimeout = _TIMEOUT, pauses: Sequence[float] = _PAUSES
    ) -> None:
        self.name = _name(url)
        self._url, self._timeout, self._pauses = url, timeout, pauses
        self._cache = LastGoodCopy(cache, url, name=self.name)
        self._started = False
        self._unkept: Path | None = None

    async def take(self, to: Path, *, seen: str, check: Check, progress: Progress) -> Fetched | None:
        """Take what the origin holds, or the last good copy where nothing was taken before."""
        started, self._started = self._started, True
        if not (started or seen) and (copy := await self._copy(to, check)):
            return copy
        asked_at = datetime.now(UTC)
        found = await self._found(to, seen, progress)
        if found == seen:
            await run_to_end(to.unlink, missing_ok=True)
            if self._unkept is not None and self._unkept.exists():  # it is served, and so it is still there
                await self._keep(self._unkept, seen, asked_at)
            await run_to_end(self._cache.confirm, seen, asked_at)
            return None
        summary = await run_to_end(_summary, to)
        try:
            check(summary.totals)
        except Refused as refused:
            raise Rejected.by(refused, found) from None
        await self._keep(to, found, asked_at)
        return Fetched(fingerprint=found, summary=summary)

    async def _copy(self, to: Path, check: Check) -> Fetched | None:
        """Take the last good copy; None if there is none, or it is not to be served."""
        kept = await run_to_end(self._cache.load, to)
        if kept is None:
            return None
        summary = await run_to_end(_summary, to)
        try:
            check(summary.totals)
        except Refused as refused:
            _log.warning("the copy in the cache is not served: %s", refused)
            return None
        return Fetched(fingerprint=kept.fingerprint, summary=summary, confirmed_at=kept.confirmed_at)

    async def _keep(self, file: Path, found: str, asked_at: datetime) -> None:
        """Let a file be the last good copy; where that fails, the next confirmation tries again."""
        kept = await run_to_end(self._cache.keep, file, fingerprint=found, confirmed_at=asked_at)
        self._unkept = None if kept else file

    async def _found(self, to: Path, seen: str, progress: Progress) -> str:
        """Return the fingerprint of what the origin holds; where that is not `seen`, it is written and sound."""
        try:
            found, damage = await self._sound(to, seen, progress)
            if damage:  # which may have been done on the way
                found, damage = await self._sound(to, seen, progress)
        except Rejected as rejected:
            if rejected.fingerprint != seen:
                raise
            return seen
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}") from error
        if damage:
            raise Rejected(f"{self.name}: {damage}", fingerprint=found)
        return found

    async def _sound(self, to: Path, seen: str, progress: Progress) -> tuple[str, str]:
        """Fetch the file; return its fingerprint, and how it shows that it is not sound, "" where it is."""
        found = await self._fetch(to, seen, progress) or await run_to_end(_digest, to)
        return found, "" if found == seen else await run_to_end(_damage, to)

    async def _fetch(self, to: Path, seen: str, progress: Progress) -> str:
        """Return the fingerprint that the origin gives, "" where it gives none; a new file is written."""
        with _new_file(to) as file:
            async with ClientSession(
                trust_env=True, auto_decompress=False, timeout=self._timeout, headers=_HEADERS, read_bufsize=_BUFFER
            ) as session:
                return await self._download(session, Download(self.name, file, progress), seen)

    async def _download(self, session: ClientSession, download: Download, seen: str) -> str:
        """Try again where the answer is cut off: at once as long as that gains something, else a few times."""
        gained, pauses = 0, iter(self._pauses)
        for _ in range(_MOST_ATTEMPTS - 1):
            try:
                return await self._attempt(session, download, seen)
            except Unavailable:
                if download.resumable > gained:
                    gained, pauses = download.resumable, iter(self._pauses)
                elif download.fingerprint is None or (pause := next(pauses, None)) is None:
                    raise
                else:
                    await asyncio.sleep(pause)
        return await self._attempt(session, download, seen)

    async def _attempt(self, session: ClientSession, download: Download, seen: str) -> str:
        rest = download.wish
        with unavailable(self.name):
            response = await session.get(self._url, headers=rest or conditions(seen))
        async with response:
            if not rest and _is_as_seen(response, seen):
                return seen
            if response.status == HTTPStatus.OK:
                return await download.begin(response)
            if rest and response.status in (HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
                return await download.go_on(response)
            raise Unavailable(f"{self.name}: {_spelled(response.status)}")


def _name(url: str) -> str:
    """Return an address without user, query and fragment, where secrets are: of presigned addresses, say."""
    try:
        scheme, host, path, _, _ = parts = urlsplit(url)
        sound = scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # whose text may quote a password
        sound = False
    if not sound:
        raise ValueError("it is no http or https address")
    return urlunsplit((scheme, host.rpartition("@")[2], path, "", ""))


def _new_file(path: Path) -> FileIO:
    path.unlink(missing_ok=True)  # not written into, as somebody may have it mapped
    path.touch(mode=0o600, exist_ok=False)
    return path.open("r+b", buffering=0)


def _is_as_seen(response: ClientResponse, seen: str) -> bool:
    """Say whether the file is as it was seen; an origin that overlooks the condition sends it all the same."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return bool(conditions(seen))
    return response.status == HTTPStatus.OK and seen != "" and fingerprint(response.headers) == seen


def _spelled(status: int) -> str:
    """Return a status as HTTP spells it: what the origin says may quote the address."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"


def _damage(file: Path) -> str:
    """Return how a file shows that it is no sound baked file, "" where it is; and keep nothing of it mapped."""
    try:
        read_baked(file)
    except UnicodeMismatch as other:
        return f"{other}; {other.remedy}"
    except DamagedFile as damage:  # perhaps on the way
        return str(damage)
    return ""


def _summary(file: Path) -> Summary:
    """Return the summary of a baked file that was checked."""
    return Summary.of(*accept(read_baked(file, checked=True), InvalidRecords.REFUSE))


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{file_digest(content, 'sha256').hexdigest()}"

"""A baked file at an HTTP URL as a source."""

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
from service.data_set import Rejected, Summary
from service.progress import Progress
from service.sources.blocking import run_to_end
from service.sources.download import Download
from service.sources.fetch_errors import unavailable
from service.sources.last_good_copy import LastGoodCopy
from service.sources.origin_validators import conditions, fingerprint
from service.sources.source import Check, Fetched, Unavailable

_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": f"store-directory/{__version__}"}
# A download that takes longer than `total` is resumed by another attempt.
_TIMEOUT: Final = ClientTimeout(total=600, sock_connect=10, sock_read=30)
# Pauses before further attempts, in seconds, while no attempt makes progress. They outlast a restart of the origin or a
# short outage of the network; after a longer one the publisher fetches again.
_PAUSES: Final = (1.0, 4.0, 16.0)
# Each of up to `total` seconds: enough for two gigabytes at 256 kbit/s, but an origin that trickles bytes is left.
_MAX_ATTEMPTS: Final = 100
_log = logging.getLogger(__name__)
_BUFFER: Final = 1 << 16  # bytes; small, as what is buffered when the connection breaks is lost


class UrlSource:
    """A baked file at an http or https URL, with its last good copy in a folder.

    The first fetch returns that copy, if there is one, so that a start does not wait for the origin. Raises ValueError
    for any other URL.
    """

    watched: Sequence[Path] = ()

    def __init__(
        self, url: str, cache: Path, *, timeout: ClientTimeout = _TIMEOUT, pauses: Sequence[float] = _PAUSES
    ) -> None:
        self.name = _name(url)
        self._url, self._timeout, self._pauses = url, timeout, pauses
        self._cache = LastGoodCopy(cache, url, name=self.name)
        self._started = False
        self._unsaved: Path | None = None

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch the file of the origin, or the last good copy if nothing was fetched before; see `Source`."""
        started, self._started = self._started, True
        if not (started or known) and (copy := await self._fetch_copy(to, check)):
            return copy
        asked_at = datetime.now(UTC)
        fetched = await self._fetch_valid(to, known, progress)
        if fetched == known:
            await run_to_end(to.unlink, missing_ok=True)
            if self._unsaved is not None and self._unsaved.exists():  # as long as it is served
                await self._save(self._unsaved, known, asked_at)
            await run_to_end(self._cache.confirm, known, asked_at)
            return None
        summary = await run_to_end(_summary, to)
        try:
            check(summary.totals)
        except Rejected as rejected:
            raise Rejected.by(rejected.rejection, fingerprint=fetched) from None
        await self._save(to, fetched, asked_at)
        return Fetched(fingerprint=fetched, summary=summary)

    async def _fetch_copy(self, to: Path, check: Check) -> Fetched | None:
        """Return the last good copy, if there is one that may be served."""
        entry = await run_to_end(self._cache.load, to)
        if entry is None:
            return None
        summary = await run_to_end(_summary, to)
        try:
            check(summary.totals)
        except Rejected as rejected:
            _log.warning("the cached copy is not served: %s", rejected)
            return None
        return Fetched(fingerprint=entry.fingerprint, summary=summary, confirmed_at=entry.confirmed_at)

    async def _save(self, file: Path, fingerprint: str, asked_at: datetime) -> None:
        """Save a file as the last good copy; if that fails, the next confirmation tries again."""
        saved = await run_to_end(self._cache.save, file, fingerprint=fingerprint, confirmed_at=asked_at)
        self._unsaved = None if saved else file

    async def _fetch_valid(self, to: Path, known: str, progress: Progress) -> str:
        """Return the fingerprint of the origin's file. If it is not `known`, the file is written and verified."""
        try:
            fetched, damage = await self._fetch_verified(to, known, progress)
            if damage:  # perhaps in transit
                fetched, damage = await self._fetch_verified(to, known, progress)
        except Rejected as rejected:
            if rejected.rejection.fingerprint != known:
                raise
            return known
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}") from error
        if damage:
            raise Rejected(f"{self.name}: {damage}", fingerprint=fetched)
        return fetched

    async def _fetch_verified(self, to: Path, known: str, progress: Progress) -> tuple[str, str]:
        """Download the file unless it is `known`; return its fingerprint, and its damage, if any."""
        fetched = await self._fetch_file(to, known, progress) or await run_to_end(_digest, to)
        return fetched, "" if fetched == known else await run_to_end(_damage, to)

    async def _fetch_file(self, to: Path, known: str, progress: Progress) -> str:
        """Download the file unless it is `known`; return its fingerprint, "" if the origin sent no validator."""
        with _new_file(to) as file:
            async with ClientSession(
                trust_env=True, auto_decompress=False, timeout=self._timeout, headers=_HEADERS, read_bufsize=_BUFFER
            ) as session:
                return await self._download(session, Download(self.name, file, progress), known)

    async def _download(self, session: ClientSession, download: Download, known: str) -> str:
        """Download, with further attempts if the connection breaks: at once after progress, else after pauses."""
        received, pauses = 0, iter(self._pauses)
        for _ in range(_MAX_ATTEMPTS - 1):
            try:
                return await self._attempt(session, download, known)
            except Unavailable:
                if download.resumable > received:
                    received, pauses = download.resumable, iter(self._pauses)
                elif download.fingerprint is None or (pause := next(pauses, None)) is None:
                    raise
                else:
                    await asyncio.sleep(pause)
        return await self._attempt(session, download, known)

    async def _attempt(self, session: ClientSession, download: Download, known: str) -> str:
        rest = download.range_headers
        with unavailable(self.name):
            response = await session.get(self._url, headers=rest or conditions(known))
        async with response:
            if not rest and _is_unchanged(response, known):
                return known
            if response.status == HTTPStatus.OK:
                return await download.receive_whole(response)
            if rest and response.status in (HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
                return await download.receive_rest(response)
            raise Unavailable(f"{self.name}: {_status_line(response.status)}")


def _name(url: str) -> str:
    """Return a URL without user, query and fragment, which may contain secrets, such as a signature."""
    try:
        scheme, host, path, _, _ = parts = urlsplit(url)
        is_valid = scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # the message may quote a password
        is_valid = False
    if not is_valid:
        raise ValueError("it is not an http or https URL")
    return urlunsplit((scheme, host.rpartition("@")[2], path, "", ""))


def _new_file(path: Path) -> FileIO:
    path.unlink(missing_ok=True)  # a process may have it mapped
    path.touch(mode=0o600, exist_ok=False)
    return path.open("r+b", buffering=0)


def _is_unchanged(response: ClientResponse, known: str) -> bool:
    """Return whether the file is still `known`. An origin that ignores conditions sends it with its fingerprint."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return bool(conditions(known))
    return response.status == HTTPStatus.OK and known != "" and fingerprint(response.headers) == known


def _status_line(status: int) -> str:
    """Return a status and its standard phrase: the phrase of the origin could quote the URL."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"


def _damage(file: Path) -> str:
    """Return the damage of a baked file, "" if it is valid. Afterwards nothing of it is mapped."""
    try:
        read_baked(file)
    except UnicodeMismatch as other:
        return f"{other}; {other.remedy}"
    except DamagedFile as damage:
        return str(damage)
    return ""


def _summary(file: Path) -> Summary:
    """Return the summary of a verified baked file."""
    return read_baked(file, checked=True).summary


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{file_digest(content, 'sha256').hexdigest()}"

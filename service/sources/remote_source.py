"""A baked file at a URL as a source."""

import asyncio
import logging
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from service.baking.baked_file import read_baked
from service.baking.characters import UnicodeMismatch
from service.baking.layout import DamagedFile, NotBaked
from service.data_set import Rejected, Summary
from service.progress import Progress
from service.sources.bake_first import bake_first
from service.sources.blocking import run_to_end
from service.sources.download import receive
from service.sources.last_good_copy import LastGoodCopy
from service.sources.source import Check, Fetched, Unavailable
from service.sources.transport import CutOff, Transport

# Pauses before further attempts, in seconds, each times a random part. After a longer outage the publisher fetches
# again.
_PAUSES: Final = (1.0, 4.0)
_JITTER: Final = 0.5
_log = logging.getLogger(__name__)


class _Damaged(Rejected):
    """The file is damaged, perhaps in transit."""


class RemoteSource:
    """A baked file at an http or https URL, with its last good copy in a folder.

    The first fetch returns that copy, if there is one, so that a start does not wait for the origin. Raises ValueError
    for any other URL.
    """

    watched: Sequence[Path] = ()

    def __init__(self, url: str, cache: Path, transport: Transport, *, pauses: Sequence[float] = _PAUSES) -> None:
        self.name = _name(url)
        self._transport, self._pauses = transport, pauses
        self._copy = LastGoodCopy(cache, url, name=self.name)
        self._started = False

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch the file of the origin, or the last good copy if nothing was fetched before; see `Source`."""
        started, self._started = self._started, True
        if not (started or known) and (copy := await self._fetch_copy(to, check)):
            return copy
        requested_at = datetime.now(UTC)
        fetched = await self._fetch_valid(to, known, progress)
        if fetched is None:
            await run_to_end(to.unlink, missing_ok=True)
            await run_to_end(self._copy.confirm, known, requested_at)
            return None
        try:
            check(fetched.summary.totals)
        except Rejected as rejected:
            raise Rejected.by(rejected.rejection, fingerprint=fetched.fingerprint) from None
        await run_to_end(self._copy.save, to, fetched.fingerprint, requested_at)
        return fetched

    async def _fetch_copy(self, to: Path, check: Check) -> Fetched | None:
        """Return the last good copy, if there is one that may be served."""
        copy = await run_to_end(self._copy.load, to)
        if copy is not None:
            try:
                check(copy.summary.totals)
            except Rejected as rejected:
                _log.warning("the cached copy is not served: %s", rejected)
                return None
        return copy

    async def _fetch_valid(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        """Return the file of the origin, None if it is `known`; with further attempts if it breaks in transit."""
        try:
            for pause in self._pauses:
                with suppress(CutOff, _Damaged):
                    return await self._attempt(to, known, progress)
                await asyncio.sleep(pause * random.uniform(1 - _JITTER, 1 + _JITTER))
            return await self._attempt(to, known, progress)
        except Rejected as rejected:
            if rejected.rejection.fingerprint != known:
                raise
            return None
        except Unavailable as error:
            raise Unavailable(f"{self.name}: {error}") from None
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}") from error

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        with _new_file(to) as file:
            async with self._transport.get(known) as remote:
                if remote is None:
                    return None
                try:
                    await receive(remote, file, partial(progress, f"Fetching {self.name}"))
                except DamagedFile as damage:
                    raise self._rejected(damage, remote.fingerprint or f"rejected: {damage}") from damage
        fingerprint = remote.fingerprint or await run_to_end(_digest, to)
        if fingerprint == known:
            return None
        try:
            return Fetched(fingerprint=fingerprint, summary=await run_to_end(_verify, to))
        except UnicodeMismatch as other:
            raise Rejected(f"{self.name}: {other}; {other.remedy}", fingerprint=fingerprint) from other
        except DamagedFile as damage:
            raise _Damaged.by(self._rejected(damage, fingerprint).rejection) from damage

    def _rejected(self, damage: DamagedFile, fingerprint: str) -> Rejected:
        path = PurePosixPath(urlsplit(self.name).path)
        is_data = isinstance(damage, NotBaked) and path.suffix != ".baked"
        hint = bake_first(path.name or "stores.csv") if is_data else ""
        return Rejected(f"{self.name}: {damage}", hint=hint, fingerprint=fingerprint)


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


def _verify(file: Path) -> Summary:
    """Check every byte; return the summary. Afterwards nothing of the file is mapped. Raises `DamagedFile`."""
    return read_baked(file).summary


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{file_digest(content, 'sha256').hexdigest()}"

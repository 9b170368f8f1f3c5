"""Files on this machine as a source: they are fetched once they stop changing (debounce)."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, time
from typing import Final

from service.data_set import Rejected
from service.progress import Progress
from service.read_options import AS_FOUND, ReadOptions
from service.reading.file_set.data_signature import DataSignature, is_file, watched_folders
from service.sources.source import Check, Fetched

# File systems' clocks may be wrong. Files that seem older than this are stable without a wait.
_OLD_SECONDS: Final = 60


class LocalSource(ABC):
    """Files on this machine, at a path that is also the name."""

    def __init__(
        self, path: Path, read_signature: Callable[[Path], DataSignature], options: ReadOptions = AS_FOUND
    ) -> None:
        self._path, self._read_signature = path, partial(read_signature, path)
        self.name, self._options = str(path), options

    @property
    def watched(self) -> Sequence[Path]:
        """The folders in which the files, or the mapping, can be replaced."""
        mapping = Path(self._options.mapping)
        declared = watched_folders(mapping) if is_file(mapping) else []
        return sorted({*watched_folders(self._path), *declared})

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch the files once they stop changing; see `Source`.

        Files that changed meanwhile may have been read in an inconsistent state, so they are fetched again.
        """
        while True:
            fingerprint = (await wait_until_stable(self._read_signature)).fingerprint
            if fingerprint == known:
                return None
            try:
                fetched = await self._fetch(to, fingerprint, progress)
                check(fetched.summary.totals)
            except Rejected as rejected:
                if (await wait_until_stable(self._read_signature)).fingerprint == fingerprint:
                    raise Rejected.by(rejected.rejection, fingerprint=fingerprint) from None
            else:
                return fetched

    @abstractmethod
    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        """Fetch files with this fingerprint. Raises `Rejected` and `Unavailable`."""


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

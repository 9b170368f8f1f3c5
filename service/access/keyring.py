"""The keys that are accepted, which follow the changes of the key file."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

from service.access.api_key import Principal
from service.access.key_file import KeyEntry, KeyFileError, read_content, read_keys, replace_file


def unrevoked(entries: Iterable[KeyEntry]) -> dict[bytes, Principal]:
    """Return the principals of the keys that are not revoked, by credential. Each use checks whether one expired."""
    return {entry.credential: entry.principal for entry in entries if entry.revoked_at is None}


def valid_count(principals: Mapping[bytes, Principal], now: float) -> int:
    """Return how many keys are valid at a time, in seconds since the epoch."""
    return sum(each.expires_at > now for each in principals.values())


_POLL_SECONDS: Final = 0.25
_log = logging.getLogger(__name__)


class Keyring:
    """The accepted keys: the static ones of `--api-key`, and those of a key file, if there is one.

    While the file is invalid, its last valid keys stay in use.

    principals    by credential; replaced as a whole, so that each request sees one state
    websites      what public keys are for, as it is listed, and when the last of these keys expires
    backup        where the last valid content is saved, for a worker that starts while the file is invalid
    poll_seconds  interval between reads of the file
    """

    def __init__(
        self,
        static: Mapping[bytes, Principal],
        path: Path = Path(),
        backup: Path = Path(),
        *,
        poll_seconds: float = _POLL_SECONDS,
    ) -> None:
        self._static, self._path, self._backup, self._poll_seconds = static, path, backup, poll_seconds
        self.principals = dict(static)
        self.websites: dict[str, float] = {}
        self._content = b""
        self._errors: set[str] = set()

    def is_valid(self) -> bool:
        """Return whether the last read of the file succeeded."""
        return not self._errors

    async def start(self) -> None:
        """Load the keys of the file, else those of the backup, else none."""
        if (keys := await self._read()) is None:
            keys = await asyncio.to_thread(self._read_backup)
        self._accept(keys or {})

    async def run(self) -> None:
        """Follow the file until cancelled."""
        while True:
            await asyncio.sleep(self._poll_seconds)
            if (keys := await self._read()) is not None:
                self._accept(keys)
                _log.info("the key file %s has changed: %d valid keys", self._path, valid_count(keys, time()))

    def _accept(self, keys: Mapping[bytes, Principal]) -> None:
        websites: dict[str, float] = {}
        for principal in keys.values():
            for each in principal.origins:
                websites[each] = max(websites.get(each, 0.0), principal.expires_at)
        self.principals, self.websites = {**keys, **self._static}, websites

    async def _read(self) -> dict[bytes, Principal] | None:
        """Return the keys if the file has changed. Never raises; logs each error once."""
        try:
            keys = await asyncio.to_thread(self._read_changed)
        except KeyFileError as error:
            if (why := str(error)) not in self._errors:
                self._errors.add(why)
                _log.warning("the key file %s cannot be read: %s; the previous keys stay valid", self._path, why)
            return None
        if self._errors:
            self._errors.clear()
            _log.info("the key file %s is valid again", self._path)
        return keys

    def _read_changed(self) -> dict[bytes, Principal] | None:
        """Return the keys if the file has changed since the last valid read. Raises `KeyFileError`.

        A signature would not show a write within one tick of the file system's clock.
        """
        if (content := read_content(self._path)) == self._content:
            return None
        entries, self._content = read_keys(content), content
        try:
            replace_file(self._backup, content)
        except OSError:  # better no backup than a stale one, which could restore revoked keys
            with suppress(OSError):
                self._backup.unlink(missing_ok=True)
        return unrevoked(entries)

    def _read_backup(self) -> dict[bytes, Principal] | None:
        try:
            return unrevoked(read_keys(read_content(self._backup)))
        except KeyFileError:
            return None

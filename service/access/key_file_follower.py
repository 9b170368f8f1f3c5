"""Following a key file while its keys are asked for: each process for itself."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Final

from service.access.key_entries import BadKeys, read_keys
from service.access.key_file import Signature, read_stored, replace, signature
from service.access.keyring import ActiveKeys, Keyring, active_keys

_LOOK_SECONDS: Final = 0.25
# A file that was written again within a tick of its file system's clock looks as it did: it is read until it is old.
_NEW_SECONDS: Final = 2.0
_log = logging.getLogger(__name__)


class KeyFileFollower:
    """Lets a ring hold the living keys of a file. Where that cannot be read, the last good keys stay.

    copy          where the last good content is kept, for a process that takes the place of another meanwhile
    look_seconds  how often the file is looked at
    new_seconds   how long it is read at each look after it has changed
    """

    def __init__(
        self,
        path: Path,
        copy: Path,
        ring: Keyring,
        *,
        look_seconds: float = _LOOK_SECONDS,
        new_seconds: float = _NEW_SECONDS,
    ) -> None:
        self._path, self._copy, self._ring, self._look_seconds = path, copy, ring, look_seconds
        self._new_ns = int(new_seconds * 1e9)
        self._seen: Signature | None = None
        self._stored = b""
        self._failures: set[str] = set()

    def is_sound(self) -> bool:
        """Whether the last reading succeeded."""
        return not self._failures

    async def begin(self) -> None:
        """Let in the keys of the file, or of its last good copy; where there is neither, none."""
        found = await self._read() or await asyncio.to_thread(self._copied)
        if found is not None:
            self._ring.turn(found)

    async def run(self) -> None:
        """Follow the file until cancelled. That keys expire does not wait for a file system that hangs."""
        await asyncio.gather(self._follow(), self._expire())

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._look_seconds)
            if (found := await self._read()) is not None:
                self._ring.turn(found)
                _log.info("the key file %s has changed: %d keys are let in", self._path, len(found.principals))

    async def _expire(self) -> None:
        while True:  # and soon again, as clocks are set
            left = self._ring.expire()
            await asyncio.sleep(min(left, self._look_seconds))

    async def _read(self) -> ActiveKeys | None:
        """Return the living keys where the file has changed. Never raises, but tells what is wrong, once."""
        try:
            found = await asyncio.to_thread(self._changed)
        except BadKeys as bad:
            if (why := str(bad)) not in self._failures:
                self._failures.add(why)
                _log.warning("the key file %s cannot be read: %s; the keys of before stay", self._path, why)
            return None
        if self._failures:
            self._failures.clear()
            _log.info("the key file %s is in order again", self._path)
        return found

    def _changed(self) -> ActiveKeys | None:
        """Return the living keys where the file has changed since it was in order. Raises `BadKeys`."""
        if self._seen is not None and signature(self._path) == self._seen:
            return None
        self._seen = None  # until it proves to be in order
        stored, seen = read_stored(self._path)
        entries = read_keys(stored)
        self._seen = seen if time_ns() - seen.changed_ns > self._new_ns else None
        if stored == self._stored:
            return None
        self._stored = stored
        self._keep(stored)
        return active_keys(entries)

    def _keep(self, stored: bytes) -> None:
        """Keep a copy; none rather than an old one, which would let in what was revoked since."""
        try:
            replace(self._copy, stored)
        except OSError:
            with suppress(OSError):
                self._copy.unlink(missing_ok=True)

    def _copied(self) -> ActiveKeys | None:
        try:
            return active_keys(read_keys(read_stored(self._copy)[0]))
        except BadKeys:
            return None

"""The interface of a source, and the outcomes of a fetch."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from service.data_set import Summary, Totals
from service.files.status import Signature
from service.progress import Progress

Check: TypeAlias = Callable[[Totals], None]


class InPlace(msgspec.Struct, frozen=True):
    """A baked file that is mapped where it is: its absolute path, and its signature when it was verified."""

    file: str
    signature: Signature


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A successful fetch.

    fingerprint   of the content of the source; equal fingerprints mean equal data
    summary       of the data
    in_place      of a baked file that was not copied
    assumed       lines about the data for the log: what was assumed
    notes         lines about the data for the log: warnings
    confirmed_at  of the last good copy: when the origin last confirmed it; served at once while the origin is polled
    """

    fingerprint: str
    summary: Summary
    in_place: InPlace | None = None
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confirmed_at: datetime | None = None


class Unavailable(Exception):
    """The source cannot be fetched now, but may be later. The message says why, without secrets."""


class Source(Protocol):
    """Where data comes from."""

    @property
    def name(self) -> str:
        """The name for messages, without secrets."""

    @property
    def watched(self) -> Sequence[Path]:
        """The folders to watch for changes of the source; none if it can only be polled."""

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Write the data of the source into a new baked file, complete and verified, or verify one in place.

        known  a fingerprint; returns None, and writes nothing, if the source still has it. "" matches no source
        check  raises `Rejected` for numbers of records that must not be served

        Raises `Rejected` if the content must not be served, `Unavailable` if it cannot be fetched now. The caller
        removes what a failed attempt leaves at `to`.
        """

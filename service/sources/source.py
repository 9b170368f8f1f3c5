"""What every source does."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from service.loading.acceptance import Cause, Refused
from service.loading.dataset import Summary, Totals
from service.progress import Progress

Check: TypeAlias = Callable[[Totals], None]


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken.

    fingerprint   what the source was like; two that are the same hold the same data
    summary       of the data
    notes         what there is to tell of the data, in lines for the log
    confirmed_at  when this was known to be what the source holds, where that was earlier: it is asked again at once
    """

    fingerprint: str
    summary: Summary
    notes: tuple[str, ...] = ()
    confirmed_at: datetime | None = None


class Rejected(Exception):
    """What the source holds is not served; it need not be looked at again until the source has another fingerprint."""

    def __init__(self, why: str, *, fingerprint: str, cause: Cause = Cause.FILE) -> None:
        super().__init__(why)
        self.fingerprint, self.cause = fingerprint, cause

    @classmethod
    def by(cls, refused: Refused, fingerprint: str) -> "Rejected":
        """Return the rejection of a source whose data set is refused."""
        return cls(str(refused), fingerprint=fingerprint, cause=refused.cause)


class Unavailable(Exception):
    """The source cannot be taken now; it may be later. The message says why, without secrets."""


class Source(Protocol):
    """Where data comes from."""

    @property
    def name(self) -> str:
        """What it is called in messages: no secrets."""

    @property
    def watched(self) -> Sequence[Path]:
        """The folders in which a change may be one of the source; none where only asking tells."""

    async def take(self, to: Path, *, seen: str, check: Check, progress: Progress) -> Fetched | None:
        """Write what the source holds into a new baked file, whole and checked.

        `check` raises `Refused` for counts of records that are not to be served.

        Returns None, and writes nothing, where the source is still as `seen`, a fingerprint; "" is that of no source.
        Raises `Rejected` where it holds what cannot be served, `Unavailable` where it may be had later. What is left
        of a failed attempt at `to` is for the caller to remove.
        """

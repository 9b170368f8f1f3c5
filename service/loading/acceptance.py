"""Whether a data set is served.

A refused file always refuses it, invalid records if so set, and safeguards a data set that looks like an accident.
"""

import os.path
import shlex
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # whoever asks for the settings alone need not wait for arrays
    from service.loading.dataset import Dataset, Loaded, Report, Totals


class InvalidRecords(StrEnum):
    """What to do about records at fault: refuse the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Cause(StrEnum):
    """What refuses a data set: one of its files, invalid records, or a limit of `Safeguards`."""

    FILE = "file"
    RECORDS = "records"
    LIMIT = "limit"


class Refused(Exception):
    """A data set that is not served: the message says why, and how many more errors there are."""

    def __init__(self, why: str, *, cause: Cause = Cause.FILE) -> None:
        super().__init__(why)
        self.cause = cause

    @classmethod
    def by(cls, report: "Report") -> "Refused":
        """Return the refusal of a data set whose report has faults."""
        first, *others = report.faults
        why = f"{first} (and {len(others):,} more)" if others else str(first)
        of_records = any(fault.record is not None for fault in report.faults)
        return cls(why, cause=Cause.RECORDS if of_records else Cause.FILE)


def accept(loaded: "Loaded", invalid: InvalidRecords) -> "tuple[Dataset, Report]":
    """Return a data set that can be served, and what was found in it; raise `Refused` for one that cannot."""
    if loaded.dataset is None or (loaded.report.faults and invalid is InvalidRecords.REFUSE):
        raise Refused.by(loaded.report)
    return loaded.dataset, loaded.report


def advice(source: str, cause: Cause) -> str:
    """Return the command that reports more on the data set at `source`, which is refused.

    That is "" where `source` is no folder, and for a limit: its refusal names the option that allows it.
    """
    if cause is Cause.LIMIT or not os.path.isdir(source):  # noqa: PTH112 - Path.is_dir raises where a name is too long
        return ""
    skip = "; `--invalid skip` leaves out the invalid records" if cause is Cause.RECORDS else ""
    return f"`store-directory check {shlex.quote(source)}` reports every error{skip}"


class Safeguards(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that keep an emptied or cut file from replacing a good data set.

    min_stores   a data set needs this many stores
    max_skipped  share of the records read, stores and companies together, that may be skipped: 0 to 1
    max_shrink   share of the stores, and of the companies, that a reload may lose: 0 to 1
    """

    min_stores: int = 1
    max_skipped: float = 0.5
    max_shrink: float = 0.5

    def check(self, totals: "Totals", served: "Totals | None" = None) -> None:
        """Raise `Refused` for a data set beyond a limit, compared with what is served, if anything is."""
        found = [*self._breaches(totals), *(self._losses(totals, served) if served is not None else ())]
        if found:
            breaches, options = zip(*found, strict=True)
            raise Refused("; ".join((*breaches, f"{' '.join(options)} allows that")), cause=Cause.LIMIT)

    def _breaches(self, totals: "Totals") -> Iterator[tuple[str, str]]:
        """Yield what is beyond a limit, and the option that allows it."""
        if totals.stores < self.min_stores:
            yield f"{totals.stores:,} stores, at least {self.min_stores:,} needed", f"--min-stores {totals.stores}"
        read = totals.stores + totals.companies + totals.skipped + totals.repeated
        if read and totals.skipped / read > self.max_skipped:
            breach = f"{totals.skipped:,} of {read:,} records skipped, {100 * totals.skipped / read:.3g} %"
            yield breach, f"--max-skipped {_share(totals.skipped, read):g}"

    def _losses(self, totals: "Totals", served: "Totals") -> Iterator[tuple[str, str]]:
        """Do as `_breaches`, for what is served and would be lost."""
        kinds = ((totals.stores, served.stores, "stores"), (totals.companies, served.companies, "companies"))
        lost = [(left, had, kind) for left, had, kind in kinds if had and (had - left) / had > self.max_shrink]
        if lost:
            breaches = (
                f"{left:,} of {had:,} {kind} left, {100 * (had - left) / had:.3g} % fewer than served now"
                for left, had, kind in lost
            )
            yield "; ".join(breaches), f"--max-shrink {max(_share(had - left, had) for left, had, _ in lost):g}"


def _share(part: int, whole: int) -> float:
    """Return the smallest limit of two decimals that allows a part."""
    return -(-100 * part // whole) / 100

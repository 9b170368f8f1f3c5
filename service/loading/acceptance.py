"""Decide whether a data set is served.

It is refused if a file cannot be used, for invalid records if so configured, and if it exceeds the safeguards.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # users of the settings alone need not import numpy
    from service.loading.dataset import Dataset, Loaded, Report, Totals


class InvalidRecords(StrEnum):
    """What to do about invalid records: refuse the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Cause(StrEnum):
    """Why a data set is refused: one of its files, invalid records, or a limit of `Safeguards`."""

    FILE = "file"
    RECORDS = "records"
    LIMIT = "limit"


class Refused(Exception):
    """The data set is not served: the message says why, and how many more errors there are."""

    def __init__(self, why: str, *, cause: Cause = Cause.FILE) -> None:
        super().__init__(why)
        self.cause = cause

    @classmethod
    def because_of(cls, loaded: "Loaded") -> "Refused":
        """Return the refusal of a data set whose report has errors."""
        errors = loaded.report.errors
        others = (sum(loaded.error_counts.values()) or len(errors)) - 1
        why = f"{errors[0]} (and {others:,} more)" if others else str(errors[0])
        of_records = any(error.record is not None for error in errors)
        return cls(why, cause=Cause.RECORDS if of_records else Cause.FILE)


def accept(loaded: "Loaded", invalid: InvalidRecords) -> "tuple[Dataset, Report]":
    """Return a data set that can be served, and its report. Raises `Refused`."""
    if loaded.dataset is None or (loaded.report.errors and invalid is InvalidRecords.REFUSE):
        raise Refused.because_of(loaded)
    return loaded.dataset, loaded.report


class Safeguards(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that keep an empty or truncated file from replacing a good data set.

    min_stores   minimum number of stores
    max_skipped  maximum share of skipped records, of all stores and companies read: 0 to 1
    max_shrink   maximum share of the stores, and of the companies, that a reload may remove: 0 to 1
    """

    min_stores: int = 1
    max_skipped: float = 0.5
    max_shrink: float = 0.5

    def check(self, totals: "Totals", served: "Totals | None" = None) -> None:
        """Raise `Refused` if the data set exceeds a limit; `served` are the totals of the one served now, if any."""
        found = [*self._breaches(totals), *(self._losses(totals, served) if served is not None else ())]
        if found:
            breaches, options = zip(*found, strict=True)
            raise Refused("; ".join((*breaches, f"{' '.join(options)} allows that")), cause=Cause.LIMIT)

    def _breaches(self, totals: "Totals") -> Iterator[tuple[str, str]]:
        """Yield each exceeded limit, and the option that allows it."""
        if totals.stores < self.min_stores:
            yield f"{totals.stores:,} stores, at least {self.min_stores:,} needed", f"--min-stores {totals.stores}"
        read = totals.stores + totals.companies + totals.skipped + totals.repeated
        if read and totals.skipped / read > self.max_skipped:
            breach = f"{totals.skipped:,} of {read:,} records skipped, {100 * totals.skipped / read:.3g} %"
            yield breach, f"--max-skipped {_share(totals.skipped, read):g}"

    def _losses(self, totals: "Totals", served: "Totals") -> Iterator[tuple[str, str]]:
        """Yield the same for the records that the reload would remove."""
        kinds = ((totals.stores, served.stores, "stores"), (totals.companies, served.companies, "companies"))
        lost = [(left, had, kind) for left, had, kind in kinds if had and (had - left) / had > self.max_shrink]
        if lost:
            breaches = (
                f"{left:,} of {had:,} {kind} left, {100 * (had - left) / had:.3g} % fewer than served now"
                for left, had, kind in lost
            )
            yield "; ".join(breaches), f"--max-shrink {max(_share(had - left, had) for left, had, _ in lost):g}"


def _share(part: int, whole: int) -> float:
    """Return the share of a part, rounded up to two decimals, so that it is a limit that allows the part."""
    return -(-100 * part // whole) / 100

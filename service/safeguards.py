"""Safeguards: data sets with invalid records, or with far fewer records than before, are not served."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from service.data_set import Rejected, Totals


class InvalidRecords(StrEnum):
    """The policy for invalid records: reject the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Safeguards(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that keep an empty or truncated file from replacing a good data set.

    min_stores   minimum number of stores
    max_skipped  maximum share of skipped records, of all stores and companies read: 0 to 1
    max_shrink   maximum share of the stores, and of the companies, that a reload may remove: 0 to 1
    """

    min_stores: int = 1
    max_skipped: float = 0.5
    max_shrink: float = 0.5

    def check(self, totals: Totals, served: Totals | None = None) -> None:
        """Raise `Rejected` if the data set exceeds a limit; `served` are the totals of the one served now, if any."""
        found = [*self._breaches(totals), *(self._losses(totals, served) if served is not None else ())]
        if found:
            breaches, options = zip(*found, strict=True)
            raise Rejected("; ".join((*breaches, f"{' '.join(options)} allows that")))

    def _breaches(self, totals: Totals) -> Iterator[tuple[str, str]]:
        """Yield each exceeded limit, and the option that allows it."""
        if totals.stores < self.min_stores:
            yield f"{totals.stores:,} stores, at least {self.min_stores:,} needed", f"--min-stores {totals.stores}"
        read = totals.stores + totals.companies + totals.skipped + totals.repeated
        if read and totals.skipped / read > self.max_skipped:
            breach = f"{totals.skipped:,} of {read:,} records skipped, {100 * totals.skipped / read:.3g} %"
            yield breach, f"--max-skipped {_share(totals.skipped, read):g}"

    def _losses(self, totals: Totals, served: Totals) -> Iterator[tuple[str, str]]:
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

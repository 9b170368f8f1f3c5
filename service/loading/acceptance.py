"""Whether a data set is served: a refused file refuses it always, records at fault where they are told to."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever asks for the settings alone need not wait for arrays
    from service.loading.dataset import Dataset, Loaded, Report


class Invalid(StrEnum):
    """What to do about records at fault: refuse the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Refused(Exception):
    """A data set that is not served: the first fault, how many more there are, and whether records are at fault."""

    def __init__(self, why: str, *, of_records: bool = False) -> None:
        super().__init__(why)
        self.of_records = of_records

    @classmethod
    def by(cls, report: "Report") -> "Refused":
        """Return the refusal of a data set whose report has faults."""
        first, *others = report.faults
        why = f"{first} (and {len(others):,} more)" if others else str(first)
        return cls(why, of_records=any(fault.record is not None for fault in report.faults))


def accept(loaded: "Loaded", invalid: Invalid) -> "tuple[Dataset, Report]":
    """Return a data set that can be served, and what was found in it; raise `Refused` for one that cannot."""
    if loaded.dataset is None or (loaded.report.faults and invalid is Invalid.REFUSE):
        raise Refused.by(loaded.report)
    return loaded.dataset, loaded.report

"""The data set that is served, and how it came to be."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec

from service.loading.dataset import Dataset, Report, load
from service.progress import Progress, silent


class Invalid(StrEnum):
    """What to do about records at fault: refuse the whole data set, or skip them."""

    REFUSE = "refuse"
    SKIP = "skip"


class Snapshot(msgspec.Struct, frozen=True, eq=False):
    """A data set that can be served, how many records were left out of it, and when it was loaded."""

    dataset: Dataset
    skipped: int
    loaded_at: datetime

    @property
    def dated(self) -> datetime:
        """The time of the data: its manifest's, else that of loading."""
        return self.dataset.generated_at or self.loaded_at


class Reload(msgspec.Struct, frozen=True):
    """An attempt to load the data: when, whether it succeeded, and what stood in the way."""

    at: datetime
    ok: bool
    error: str | None = None


class Refused(Exception):
    """A data set that is not served; `report` says why."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(_summary(report))


def _summary(report: Report) -> str:
    first, *others = report.faults
    return f"{first} (and {len(others):,} more)" if others else str(first)


class Replica:
    """Holds what is served now. Whoever answers a request takes `current` once and works on that."""

    def __init__(self, folder: Path, *, invalid: Invalid = Invalid.REFUSE) -> None:
        self.folder = folder
        self.invalid = invalid
        self.current: Snapshot | None = None
        self.last_reload: Reload | None = None

    def load(self, progress: Progress = silent) -> Report:
        """Load the folder and serve it from now on; where that fails, what was served stays.

        Raises `Refused` where a file is refused, or records are at fault and `invalid` says to refuse.
        """
        loaded = load(self.folder, progress=progress)
        now = datetime.now(UTC)
        if loaded.dataset is None or (loaded.report.faults and self.invalid is Invalid.REFUSE):
            refused = Refused(loaded.report)
            self.last_reload = Reload(now, ok=False, error=str(refused))
            raise refused
        self.current = Snapshot(loaded.dataset, loaded.report.totals.skipped, now)
        self.last_reload = Reload(now, ok=True)
        return loaded.report

"""The data set that is served, and how it came to be."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

from service.baking.baked import load_baked
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

    at: Annotated[datetime, msgspec.Meta(tz=True)]
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


def read_source(source: Path, *, invalid: Invalid, progress: Progress = silent) -> tuple[Dataset, Report]:
    """Return the data set of a folder or of a baked file, and what was found in it.

    Raises `Refused` where a file is refused, or records are at fault and `invalid` says to refuse.
    """
    loaded = load_baked(source) if _is_file(source) else load(source, progress=progress)
    if loaded.dataset is None or (loaded.report.faults and invalid is Invalid.REFUSE):
        raise Refused(loaded.report)
    return loaded.dataset, loaded.report


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # of a name that is too long, say: reading it as a folder tells so
        return False


class Replica:
    """Holds what is served now. Whoever answers a request takes `current` once and works on that."""

    def __init__(self, source: Path, *, invalid: Invalid = Invalid.REFUSE) -> None:
        self.source = source
        self.invalid = invalid
        self.current: Snapshot | None = None
        self.last_reload: Reload | None = None

    def load(self, progress: Progress = silent) -> Report:
        """Load the source and serve it from now on; where that is refused, what was served stays. Raises `Refused`."""
        try:
            dataset, report = read_source(self.source, invalid=self.invalid, progress=progress)
        except Refused as refused:
            self.last_reload = Reload(datetime.now(UTC), ok=False, error=str(refused))
            raise
        now = datetime.now(UTC)
        self.current = Snapshot(dataset, report.totals.skipped, now)
        self.last_reload = Reload(now, ok=True)
        return report

"""A snapshot holder that serves a data set, without a source to follow."""

from datetime import UTC, datetime
from pathlib import Path

from service.loading.acceptance import InvalidRecords, accept
from service.loading.dataset import Dataset, Report, Summary, load
from service.snapshot.publication import Publication, Reload, last_modified
from service.snapshot.snapshot import Snapshot, SnapshotHolder

# A folder of files; or a data set, which serving does not change, and its report.
Data = Path | tuple[Dataset, Report]


def accepted(folder: Path) -> tuple[Dataset, Report]:
    """Load the data set of a folder."""
    return accept(load(folder), InvalidRecords.REFUSE)


def snapshot(data: Data) -> Snapshot:
    """Return a data set, or that of a folder, as it is served."""
    dataset, report = accepted(data) if isinstance(data, Path) else data
    now = datetime.now(UTC)
    modified = last_modified(Publication(), Summary.of(dataset, report), now)
    return Snapshot(dataset=dataset, skipped=report.totals.skipped, loaded_at=now, modified=modified)


async def serve(holder: SnapshotHolder, data: Data) -> None:
    """Serve a data set, or that of a folder."""
    current = snapshot(data)
    reload = Reload(current.loaded_at, ok=True)
    await holder.swap(current, Publication(generation=1, confirmed_at=current.loaded_at, last_reload=reload))

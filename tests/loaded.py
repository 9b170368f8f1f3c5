"""A snapshot holder that serves a data set, without a source to follow."""

from datetime import UTC, datetime
from pathlib import Path

from service.loading.acceptance import InvalidRecords, accept
from service.loading.dataset import Summary, load
from service.snapshot.publication import Publication, Reload, last_modified
from service.snapshot.snapshot import Snapshot, SnapshotHolder


def snapshot(folder: Path) -> Snapshot:
    """Return the data set of a folder as it is served."""
    dataset, report = accept(load(folder), InvalidRecords.REFUSE)
    now = datetime.now(UTC)
    modified = last_modified(Publication(), Summary.of(dataset, report), now)
    return Snapshot(dataset=dataset, skipped=report.totals.skipped, loaded_at=now, modified=modified)


async def serve(holder: SnapshotHolder, folder: Path) -> None:
    """Serve the data set of a folder."""
    current = snapshot(folder)
    loaded = Reload(current.loaded_at, ok=True)
    await holder.swap(current, Publication(generation=1, confirmed_at=current.loaded_at, last_reload=loaded))

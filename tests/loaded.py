"""A snapshot holder that serves a data set, without a source to follow."""

from datetime import UTC, datetime
from pathlib import Path

from service.dataset import Dataset, InvalidRecords
from service.loading.dataset import accept, load
from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.publishing.workspace import Publication, Reload, last_modified

# A folder of files; or a data set, which serving does not change.
Data = Path | Dataset


def accepted(folder: Path) -> Dataset:
    """Load the data set of a folder."""
    return accept(load(folder), InvalidRecords.REFUSE)


def snapshot(data: Data) -> Snapshot:
    """Return a data set, or that of a folder, as it is served."""
    dataset = accepted(data) if isinstance(data, Path) else data
    now = datetime.now(UTC)
    modified = last_modified(Publication(), dataset.summary, now)
    return Snapshot(dataset=dataset, loaded_at=now, modified=modified)


async def serve(holder: SnapshotHolder, data: Data) -> None:
    """Serve a data set, or that of a folder."""
    current = snapshot(data)
    reload = Reload(current.loaded_at, ok=True)
    await holder.swap(current, Publication(generation=1, confirmed_at=current.loaded_at, last_reload=reload))

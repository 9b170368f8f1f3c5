"""A snapshot holder that serves a data set, without a source to follow."""

from datetime import UTC, datetime
from pathlib import Path

from service.data_set import Dataset
from service.loading.acceptance import accept
from service.loading.dataset import load
from service.safeguards import InvalidRecords
from service.snapshot.publication import Publication, Reload, last_modified
from service.snapshot.snapshot import Snapshot, SnapshotHolder

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

"""The snapshot that one process serves, and the swap to the next one."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Final

import msgspec

from service.dataset import Dataset, Rejected
from service.files import Signature
from service.model.attributes import NO_ATTRIBUTES
from service.publishing.publisher import Publisher
from service.publishing.worker_slots import WorkerSlot, single_slot
from service.publishing.workspace import Publication, Reload, Workspace

if TYPE_CHECKING:
    from service.engine.columns.bounded_cache import BoundedCache

# Interval at which workers read the publication: with the time to map the file, all have swapped within 200 ms.
_POLL_SECONDS: Final = 0.05
_RETRY_SECONDS: Final = 1
_log = logging.getLogger(__name__)


class Snapshot(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A data set that is served.

    modified    time of the data, if it may be given as Last-Modified
    generation  number of the data set in the run, from 1
    """

    dataset: Dataset
    loaded_at: datetime
    modified: datetime | None = None
    generation: int = 1

    @property
    def dated(self) -> datetime:
        """The time of the data: that of its manifest, else of loading."""
        return self.dataset.generated_at or self.loaded_at


class SnapshotHolder:
    """Holds the current snapshot. A request reads `current` once and uses that snapshot to its end.

    schema     of the current data set, which says how requests are parsed; without attributes while there is none
    slot       shared counters of this worker
    max_stale  seconds without a confirmation by the source after which the data counts as stale
    complete   returns whether all workers of the run have, or had, data at the same time; None in a single process
    draining   whether the process is about to end, and should get no more requests
    caches     of what is made of the current snapshot alone: a swap empties them
    """

    def __init__(
        self,
        slot: WorkerSlot | None = None,
        *,
        max_stale: float | None = None,
        complete: Callable[[], bool] | None = None,
    ) -> None:
        self.slot = slot or single_slot()
        self.current: Snapshot | None = None
        self.schema = NO_ATTRIBUTES
        self.last_reload: Reload | None = None
        self.confirmed_at: datetime | None = None
        self.draining = False
        self.caches: list[BoundedCache[Any, Any]] = []
        self.has_data = asyncio.Event()
        self.max_stale = max_stale
        self._complete = complete

    @property
    def generation(self) -> int:
        """Number of the served data set in the run; 0 is none."""
        return self.current.generation if self.current else 0

    @property
    def loading(self) -> bool:
        """Whether this process, or another worker before the run was complete, has no data yet."""
        if self.current is None:
            return True
        if self._complete is not None and self._complete():
            self._complete = None
        return self._complete is not None

    @property
    def stale(self) -> bool:
        """Whether the source last confirmed the data longer than `max_stale` ago."""
        if self.max_stale is None or self.confirmed_at is None:
            return False
        return (datetime.now(UTC) - self.confirmed_at).total_seconds() > self.max_stale

    async def update(self, publication: Publication, workspace: Workspace) -> None:
        """Swap to a publication, between two requests. If its file cannot be mapped, nothing changes."""
        if publication.generation == self.generation:
            self._record(publication)
        if publication.generation in (0, self.generation):
            return  # 0 as well if someone removed the folder
        try:
            file, signature = workspace.file(publication), publication.signature  # which the publisher has verified
            dataset = await asyncio.to_thread(mapped, file, signature)
        except Rejected as rejected:
            if workspace.publication().generation == publication.generation:  # not replaced meanwhile
                _log.error("the published data cannot be served: %s", rejected)
                await asyncio.sleep(_RETRY_SECONDS)
            return
        snapshot = Snapshot(
            dataset=dataset,
            loaded_at=publication.loaded_at or datetime.now(UTC),
            modified=publication.modified,
            generation=publication.generation,
        )
        await self.swap(snapshot, publication)

    async def swap(self, snapshot: Snapshot, publication: Publication) -> None:
        """Serve the snapshot of a publication from now on."""
        retired = [self.current]
        self.current, self.schema = snapshot, snapshot.dataset.schema
        kept = [part for cache in self.caches for part in cache.clear()]
        self._record(publication)
        self.slot.set_generation(snapshot.generation)
        self.has_data.set()
        await asyncio.to_thread(_free, kept, retired)

    def _record(self, publication: Publication) -> None:
        self.last_reload, self.confirmed_at = publication.last_reload, publication.confirmed_at


def mapped(file: Path, signature: Signature | None) -> Dataset:
    """Map a verified file, ready for requests. Raises `Rejected`."""
    from service.baking.baked_file import load_baked  # noqa: PLC0415 - imported while the data is fetched

    dataset = load_baked(file, checked=True, signature=signature)
    dataset.prepare()
    return dataset


def _free(kept: Iterable[dict[Any, Any]], retired: list[Snapshot | None]) -> None:
    """Free what was made of a snapshot, and unmap it: ten milliseconds or more, which must not block the event loop.

    No other thread runs while an object is freed with all that it refers to: many are freed a few at a time.
    """
    for part in kept:
        while part:
            for _ in range(min(256, len(part))):  # in a tenth of a millisecond
                part.popitem()
            sleep(1e-5)  # for other threads
    retired.clear()


async def follow_publications(holder: SnapshotHolder, workspace: Workspace, publisher: Publisher) -> None:
    """Swap to each publication until cancelled; run the publisher once this process is the leader.

    Raises `Rejected` if there is nothing to serve.
    """
    leads = False
    while not leads:
        with suppress(OSError):  # too many open files, for example: the next attempt may succeed
            leads = workspace.lead()
            await holder.update(workspace.publication(), workspace)
        await asyncio.sleep(0 if leads else _POLL_SECONDS)
    await publisher.run()

"""What one process serves."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from service.baking.baked_file import load_baked
from service.loading.acceptance import InvalidRecords, Refused, accept
from service.loading.dataset import Dataset
from service.snapshot.publication import Publication, Reload
from service.snapshot.publisher import Publisher
from service.snapshot.worker_slots import WorkerSlot, single_slot
from service.snapshot.workspace import Workspace

# How often a worker looks whether another one published: with that and its own load, all turn within 200 ms.
_LOOK_SECONDS: Final = 0.05
_RETRY_SECONDS: Final = 1
_log = logging.getLogger(__name__)


class Snapshot(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A data set that is served.

    skipped     how many records were left out of it
    modified    when it was last modified, if Last-Modified may say so
    generation  its number in the run, from 1
    """

    dataset: Dataset
    skipped: int
    loaded_at: datetime
    modified: datetime | None = None
    generation: int = 1

    @property
    def dated(self) -> datetime:
        """The time of the data: its manifest's, else that of loading."""
        return self.dataset.generated_at or self.loaded_at


class SnapshotHolder:
    """Holds what is served now. Whoever answers a request takes `current` once and works on that.

    slot       where the other workers read what this one serves
    max_stale  for how many seconds it may be unknown whether the source holds something else
    complete   returns whether every worker of the run has data, or had once; None in a process without others
    draining   whether the process is about to end, and wants no more requests
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
        self.last_reload: Reload | None = None
        self.confirmed_at: datetime | None = None
        self.draining = False
        self.has_data = asyncio.Event()
        self.max_stale = max_stale
        self._complete = complete

    @property
    def generation(self) -> int:
        """Which data set of the run is served; 0 is none."""
        return self.current.generation if self.current else 0

    @property
    def loading(self) -> bool:
        """Whether there is no data yet, in this process or, until all have had it once, in another worker."""
        if self.current is None:
            return True
        if self._complete is not None and self._complete():
            self._complete = None
        return self._complete is not None

    @property
    def stale(self) -> bool:
        """Whether it has been unknown for too long that the source holds what is served."""
        if self.max_stale is None or self.confirmed_at is None:
            return False
        return (datetime.now(UTC) - self.confirmed_at).total_seconds() > self.max_stale

    async def follow(self, publication: Publication, workspace: Workspace) -> None:
        """Serve what is published from between two requests on. What cannot be had changes nothing."""
        if publication.generation == self.generation:
            self._note(publication)
        if publication.generation in (0, self.generation):
            return  # 0 is that of a folder which somebody removed, too
        try:
            snapshot = await asyncio.to_thread(_snapshot, publication, workspace.file(publication))
        except Refused as refused:
            if workspace.publication().generation == publication.generation:  # and not one that is over
                _log.error("what is published cannot be served: %s", refused)
                await asyncio.sleep(_RETRY_SECONDS)
            return
        await self.serve(snapshot, publication)

    async def serve(self, snapshot: Snapshot, publication: Publication) -> None:
        """Serve the data set of a publication from now on."""
        retired = [self.current]
        self.current = snapshot
        self._note(publication)
        self.slot.serves(snapshot.generation)
        self.has_data.set()
        # The end of a large mapping takes 10 ms or more, which the event loop need not wait for.
        await asyncio.to_thread(retired.clear)

    def _note(self, publication: Publication) -> None:
        self.last_reload, self.confirmed_at = publication.last_reload, publication.confirmed_at


def _snapshot(publication: Publication, file: Path) -> Snapshot:
    """Map what is published, which was checked before. Raises `Refused`."""
    dataset, report = accept(load_baked(file, checked=True), InvalidRecords.REFUSE)
    loaded_at = publication.loaded_at or datetime.now(UTC)
    return Snapshot(
        dataset=dataset,
        skipped=report.totals.skipped,
        loaded_at=loaded_at,
        modified=publication.modified,
        generation=publication.generation,
    )


async def follow_publications(replica: SnapshotHolder, workspace: Workspace, publisher: Publisher) -> None:
    """Serve what is published until cancelled; publish, too, where no other process of the run does.

    Raises `Rejected` where there is nothing to serve.
    """
    leads = False
    while not leads:
        with suppress(OSError):  # of too many open files, say: they may be fewer the next time
            leads = workspace.lead()
            await replica.follow(workspace.publication(), workspace)
        await asyncio.sleep(0 if leads else _LOOK_SECONDS)
    await publisher.run()

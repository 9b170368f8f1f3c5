"""The service in this process, from the bytes of a request to those of the response; its garbage while caches fill."""

import asyncio
import gc
import sys
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple

import msgspec

from bench.processes import caches, core_wait
from service.baking.baked_file import load_baked
from service.dataset import Dataset
from service.engine.results import page
from service.model.query import Query
from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.server.process import GC_THRESHOLD, SWITCH_SECONDS
from service.settings import Settings
from service.web.pipeline.app import App
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.web.connections.harness import Wire

# A turn of so many seconds is worth the time to read how long there was no core.
_LONG_TURN: Final = 0.0005
_GENERATIONS: Final = 3


class Took(NamedTuple):
    """For how many seconds a request held the event loop at a time, at most, and after how many it was answered."""

    held: float
    answered: float


class _Client(Wire):
    """A connection whose client can sleep until something is sent."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self.answered = asyncio.Event()

    def write(self, data: Any) -> None:
        super().write(data)
        self.answered.set()


class Directory:
    """A served data set of stores, and a connection to it."""

    def __init__(self, data: Path) -> None:
        """Load a baked file. Raises `Rejected`, or ValueError if it finds no cache to clear."""
        dataset = load_baked(data)
        self._stores = dataset.stores
        self._loop = asyncio.new_event_loop()
        self._wire = self._loop.run_until_complete(_connect(dataset))
        gc.unfreeze()  # the caches of functions, frozen by another directory, are listed again
        gc.collect()
        self._caches = caches()
        if not self._caches:
            raise ValueError("this bench finds no cache of the service to clear")
        sys.setswitchinterval(SWITCH_SECONDS)
        gc.set_threshold(GC_THRESHOLD)
        gc.freeze()

    def __len__(self) -> int:
        return len(self._stores)

    def count(self, target: str) -> int:
        """Return the number of stores that match a request, 0 for an error."""
        self.took(target)
        answer = msgspec.json.decode(bytes(self._wire.received).partition(b"\r\n\r\n")[2])
        cells = answer.get("features", ())
        return int(answer.get("total_count", sum(cell["properties"]["count"] for cell in cells)))

    def records(self, *, limit: int, page_num: int) -> list[dict[str, Any]]:
        """Return the records of a page in the default order."""
        found = page(self._stores, Query(limit=limit, page_num=page_num))
        records: list[dict[str, Any]] = msgspec.json.decode(b"".join((b"[", *found.rows, b"]")))
        return records

    def clear(self) -> None:
        """Empty the caches."""
        for clear in self._caches:
            clear()

    def took_cold(self, target: str) -> Took:
        """Send a request, with cold caches, and return what it took."""
        self.clear()
        return self.took(target)

    def took(self, target: str) -> Took:
        """Send a request, with the caches as they are, and return what it took."""
        return self._loop.run_until_complete(self._took(target))

    def send(self, target: str) -> None:
        """Send a request, with the caches as they are; the loop sleeps while a thread answers it."""
        self._loop.run_until_complete(self._sent(target))

    def _ask(self, target: str) -> _Client:
        wire = self._wire
        wire.received.clear()
        wire.answered.clear()
        wire.unread += f"GET {target} HTTP/1.1\r\nHost: t\r\n\r\n".encode()
        return wire

    async def _sent(self, target: str) -> None:
        wire = self._ask(target)
        wire.deliver()
        await wire.answered.wait()

    async def _took(self, target: str) -> Took:
        """Let the loop turn until the request is answered: another one would wait for as long as a turn takes.

        The time in which this thread was ready to run and had no core is subtracted from a long turn: other programs
        may have the cores, and this loop, which never rests, takes turns of milliseconds with the thread of the engine.
        """
        wire = self._ask(target)
        waited, held, started = core_wait("self"), 0.0, perf_counter()
        before = started
        wire.deliver()
        while True:
            await asyncio.sleep(0)
            now = perf_counter()
            if now - before > _LONG_TURN:
                without = core_wait("self")
                before, waited = before + without - waited, without
            held, before = max(held, now - before), now
            if wire.received:
                return Took(held, now - started)


async def _connect(dataset: Dataset) -> _Client:
    holder = SnapshotHolder()
    holder.current = Snapshot(dataset=dataset, loaded_at=datetime.now(UTC), modified=None, generation=1)
    holder.schema = dataset.schema
    return _Client(make_site(holder, no_authentication, Settings(data=".", no_auth=True)).public)


class Filling(NamedTuple):
    """Requests that filled the caches, and the seconds of each collection of garbage meanwhile, by generation.

    longest  the seconds for which a request during which there was a collection held the event loop, at most
    """

    requests: int
    collections: Sequence[Sequence[float]]
    longest: float


def fill_caches(directory: Directory, targets: Collection[str]) -> Filling:
    """Request each target once, from empty caches on."""
    directory.clear()
    gc.collect()
    gc.freeze()  # what this bench keeps is no part of a service
    collections, longest = tuple(list[float]() for _ in range(_GENERATIONS)), 0.0

    def record(phase: str, info: dict[str, Any]) -> None:
        found = collections[info["generation"]]
        if phase == "start":
            found.append(-thread_time())
        else:
            found[-1] += thread_time()

    gc.callbacks.append(record)
    for target in targets:
        before = sum(map(len, collections))
        seconds = directory.took(target).held
        if sum(map(len, collections)) > before:
            longest = max(longest, seconds)
    gc.callbacks.remove(record)
    return Filling(len(targets), collections, longest)

"""The memory of workers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.observation import reload
from bench.reloads.published_data import editions, publish_in_turn
from bench.reloads.setup import Setup, megabytes, with_workers
from bench.reloads.worker_connections import connected, workers
from bench.wire import processes
from bench.wire.load import Workload, generate_load
from bench.wire.servers import Server, running
from bench.wire.shapes import read_shapes

_WORKERS: Final = (1, 2, 4)
_MAX_BYTES: Final = 120_000_000
# The bound applies to this number of stores and fewer.
BOUND_STORES: Final = 200_000
# They fill the caches of selections and copy rows.
_SHAPES: Final = ("city", "page", "dense", "scattered")
_PAUSE_SECONDS: Final = 0.05
_HEAD: Final = (
    *("stores", "workers", "private memory of each when ready, MB", "after requests", "after reloads"),
    *("with its share", "of the parent process"),
)


class Footprint(msgspec.Struct, frozen=True):
    """Bytes of memory.

    parent    private anonymous memory of the parent of the workers; 0 without one
    ready     that of each worker when all are ready
    loaded    after requests
    reloaded  after reloads, too
    resident  then, with the share of shared pages
    """

    stores: int
    parent: int
    ready: Sequence[int]
    loaded: Sequence[int]
    reloaded: Sequence[int]
    resident: Sequence[int]

    @property
    def missed(self) -> list[str]:
        """The memory of the largest worker, if it is not below the bound."""
        most = max((*self.ready, *self.loaded, *self.reloaded))
        if self.stores > BOUND_STORES or most < _MAX_BYTES:
            return []
        return [f"{self.stores:,} stores, {len(self.ready)} workers: a worker takes {most / 1e6:.0f} MB"]


def footprints(setup: Setup, stores: int) -> Iterator[Footprint]:
    """Read the memory of one, two and four workers that serve files."""
    sample = setup.sample(stores)
    pair = editions(sample)
    shapes = [shape for shape in read_shapes(sample.folder, setup.seed) if shape.slug in _SHAPES]
    for count in _WORKERS:
        with (
            publish_in_turn(sample, pair, "files") as data,
            running(with_workers(data.path, count), *setup.both_cores) as server,
            connected(server, count) as connections,
        ):
            ready = _anonymous(server)
            for shape in shapes:
                generate_load(setup.load, Workload.of(shape, server))
            loaded = _anonymous(server)
            for _ in range(setup.repeats):
                reload(server, connections, data, pause=_PAUSE_SECONDS)
            parent = processes.memory_of(server.pid).anonymous if count > 1 else 0
            resident = [processes.memory_of(pid).resident for pid in workers(server)]
            yield Footprint(stores, parent, ready, loaded, _anonymous(server), resident)


def _anonymous(server: Server) -> list[int]:
    return [processes.memory_of(pid).anonymous for pid in workers(server)]


def markdown(found: Iterable[Footprint]) -> str:
    """Return the memory as a table."""
    return table(_HEAD, map(_row, found))


def _row(each: Footprint) -> Sequence[str]:
    sizes = map(megabytes, (each.ready, each.loaded, each.reloaded, each.resident))
    return (f"{each.stores:,}", str(len(each.ready)), *sizes, megabytes([each.parent]) if each.parent else "-")

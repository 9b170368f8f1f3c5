"""The memory of workers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.editions import editions, place
from bench.reloads.observed import reload
from bench.reloads.setting import Setting, megabytes, several
from bench.reloads.workers import connected, workers
from bench.wire import processes
from bench.wire.load import Questions, drive
from bench.wire.servers import Server, running
from bench.wire.shapes import read_shapes

_WORKERS: Final = (1, 2, 4)
_BOUND_BYTES: Final = 120_000_000
# The bound applies to this number of stores and fewer.
BOUND_STORES: Final = 200_000
# They fill the caches of selections and copy rows.
_SHAPES: Final = ("city", "page", "dense", "scattered")
_PAUSE_SECONDS: Final = 0.05


class Footprint(msgspec.Struct, frozen=True):
    """Bytes of memory.

    above     private anonymous memory of the parent of the workers; 0 without one
    ready     that of each worker when all are ready
    driven    after requests
    reloaded  after reloads, too
    resident  then, with the share of shared pages
    """

    stores: int
    above: int
    ready: Sequence[int]
    driven: Sequence[int]
    reloaded: Sequence[int]
    resident: Sequence[int]

    @property
    def missed(self) -> list[str]:
        """The memory of the largest worker, if it is not below the bound."""
        most = max((*self.ready, *self.driven, *self.reloaded))
        if self.stores > BOUND_STORES or most < _BOUND_BYTES:
            return []
        return [f"{self.stores:,} stores, {len(self.ready)} workers: a worker takes {most / 1e6:.0f} MB"]


def footprints(setting: Setting, stores: int) -> Iterator[Footprint]:
    """Read the memory of one, two and four workers that serve files."""
    sample = setting.sample(stores)
    pair = editions(sample)
    shapes = [shape for shape in read_shapes(sample.folder, setting.seed) if shape.slug in _SHAPES]
    for count in _WORKERS:
        with (
            place(sample, pair, "files") as home,
            running(several(home.data, count), *setting.both_cores) as server,
            connected(server, count) as connections,
        ):
            ready = _anonymous(server)
            for shape in shapes:
                drive(setting.driver, server, Questions.of(shape, server))
            driven = _anonymous(server)
            for _ in range(setting.repeats):
                reload(server, connections, home, pause=_PAUSE_SECONDS)
            above = processes.memory_of(server.pid).anonymous if count > 1 else 0
            resident = [processes.memory_of(pid).resident for pid in workers(server)]
            yield Footprint(stores, above, ready, driven, _anonymous(server), resident)


def _anonymous(server: Server) -> list[int]:
    return [processes.memory_of(pid).anonymous for pid in workers(server)]


def markdown(found: Iterable[Footprint]) -> str:
    """Return the memory as a table."""
    head = (
        "stores",
        "workers",
        "own memory of each when ready, MB",
        "after requests",
        "after reloads",
        "with its share",
    )
    return table((*head, "of the process above them"), map(_row, found))


def _row(each: Footprint) -> Sequence[str]:
    sizes = map(megabytes, (each.ready, each.driven, each.reloaded, each.resident))
    return (f"{each.stores:,}", str(len(each.ready)), *sizes, megabytes([each.above]) if each.above else "-")

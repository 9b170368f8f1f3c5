"""The cost of a request with two workers compared to one, and how connections are distributed over two."""

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.setup import Setup, with_workers
from bench.reloads.worker_connections import connected, count_connections
from bench.wire.comparison import Comparison, compare
from bench.wire.contender import Contender
from bench.wire.load import Workload, generate_load
from bench.wire.sample import make_baked
from bench.wire.servers import Server, running
from bench.wire.shapes import Shape, read_shapes

_WORKERS: Final = 2
_MAX_RATIO: Final = 1.1
_SHAPES: Final = ("company", "city", "page")
_PAUSE_SECONDS: Final = 0.05


class Sharing(msgspec.Struct, frozen=True):
    """One worker and two on a shape; `busiest` is the number of connections of the busier worker, run by run."""

    comparison: Comparison
    connections: int
    busiest: Sequence[int]

    @property
    def missed(self) -> list[str]:
        """The median of the pairs, if it is above the bound."""
        ratio, shape = self.comparison.cpu_ratio.median, self.comparison.shape
        return [] if ratio <= _MAX_RATIO else [f"{shape}: two workers cost {ratio:.2f} times as much as one"]


def sharings(setup: Setup, stores: int) -> Iterator[Sharing]:
    """Send load to one worker and to two in turn, all on one core, then to two on both."""
    sample = setup.sample(stores)
    data = make_baked(sample)
    shapes = [shape for shape in read_shapes(sample.folder, setup.seed) if shape.slug in _SHAPES]
    one, two = with_workers(data, 1), with_workers(data, _WORKERS)
    with running(one, setup.core) as ours, _all_ready(two, setup.core) as theirs:
        comparisons = [compare(setup.load, shape, ours, (theirs,), setup.repeats)[0] for shape in shapes]
    with _all_ready(two, *setup.both_cores) as server:
        for shape, found in zip(shapes, comparisons, strict=True):
            busiest = [_busiest(setup, server, shape) for _ in range(setup.repeats)]
            yield Sharing(found, setup.load.connections, busiest)


@contextmanager
def _all_ready(contender: Contender, *cores: int) -> Iterator[Server]:
    """Yield a server once both of its workers respond."""
    with running(contender, *cores) as server:
        with connected(server, _WORKERS):
            pass
        yield server


def _busiest(setup: Setup, server: Server, shape: Shape) -> int:
    """Return the connections of the busier worker once all of a run are open. Raises `Failed`."""
    with ThreadPoolExecutor() as pool:
        run = pool.submit(generate_load, setup.load, Workload.of(shape, server))
        while (found := count_connections(server)).total() < setup.load.connections and not run.done():
            time.sleep(_PAUSE_SECONDS)
        run.result()
    return max(found.values(), default=0)


def markdown(found: Iterable[Sharing]) -> str:
    """Return the costs as a table."""
    head = ("shape", "CPU µs, one worker", "two", "two over one", "from", "to", "connections of the busier")
    return table(head, map(_row, found))


def _row(each: Sharing) -> Sequence[str]:
    costs = (f"{cost:,.1f}" for cost in each.comparison.medians("cpu_microseconds"))
    of_all = f"{min(each.busiest)} to {max(each.busiest)} of {each.connections}"
    return (each.comparison.shape, *costs, *each.comparison.cpu_ratio.cells(), of_all)

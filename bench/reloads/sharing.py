"""The cost of a request with two workers compared to one, and how connections are distributed over two."""

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import msgspec

from bench.markdown import table
from bench.reloads.setting import Setting, several
from bench.reloads.workers import connected, spread
from bench.wire.contender import Contender
from bench.wire.load import Questions, drive
from bench.wire.measure import Contest, contest
from bench.wire.sample import make_baked
from bench.wire.servers import Server, running
from bench.wire.shapes import Shape, read_shapes

_WORKERS: Final = 2
_BOUND: Final = 1.1
_SHAPES: Final = ("company", "city", "page")
_PAUSE_SECONDS: Final = 0.05


class Sharing(msgspec.Struct, frozen=True):
    """One worker and two on a shape; `busiest` is the number of connections of the busier worker, run by run."""

    contest: Contest
    connections: int
    busiest: Sequence[int]

    @property
    def missed(self) -> list[str]:
        """The median of the pairs, if it is above the bound."""
        ratio = self.contest.cpu_ratio.median
        return [] if ratio <= _BOUND else [f"{self.contest.shape}: two workers cost {ratio:.2f} times as much as one"]


def sharings(setting: Setting, stores: int) -> Iterator[Sharing]:
    """Send load to one worker and to two in turn, all on one core, then to two on both."""
    sample = setting.sample(stores)
    data = make_baked(sample)
    shapes = [shape for shape in read_shapes(sample.folder, setting.seed) if shape.slug in _SHAPES]
    one, two = several(data, 1), several(data, _WORKERS)
    with running(one, setting.core) as ours, _both(two, setting.core) as theirs:
        contests = [contest(setting.driver, shape, ours=ours, theirs=theirs, pairs=setting.repeats) for shape in shapes]
    with _both(two, *setting.both_cores) as server:
        for shape, found in zip(shapes, contests, strict=True):
            busiest = [_busiest(setting, server, shape) for _ in range(setting.repeats)]
            yield Sharing(found, setting.driver.connections, busiest)


@contextmanager
def _both(contender: Contender, *cores: int) -> Iterator[Server]:
    """Yield a server once both of its workers respond."""
    with running(contender, *cores) as server:
        with connected(server, _WORKERS):
            pass
        yield server


def _busiest(setting: Setting, server: Server, shape: Shape) -> int:
    """Return the connections of the busier worker once all of a run are open. Raises `Failed`."""
    questions = Questions.of(shape, server)
    with ThreadPoolExecutor() as pool:
        driving = pool.submit(drive, setting.driver, server, questions)
        while (found := spread(server)).total() < setting.driver.connections and not driving.done():
            time.sleep(_PAUSE_SECONDS)
        driving.result()
    return max(found.values(), default=0)


def markdown(found: Iterable[Sharing]) -> str:
    """Return the costs as a table."""
    head = ("shape", "CPU µs, one worker", "two", "two over one", "from", "to", "connections of the busier")
    return table(head, map(_row, found))


def _row(each: Sharing) -> Sequence[str]:
    ratio = each.contest.cpu_ratio
    sides = (each.contest.ours, each.contest.theirs)
    costs = (f"{side.cpu_microseconds.median:,.1f}" for side in sides)
    of_all = f"{min(each.busiest)} to {max(each.busiest)} of {each.connections}"
    return (
        each.contest.shape,
        *costs,
        f"**{ratio.median:.2f}**",
        f"{ratio.lowest:.2f}",
        f"{ratio.highest:.2f}",
        of_all,
    )

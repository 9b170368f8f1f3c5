"""Compare the cost of requests as the data grows: `python -m bench.growth`.

Each kind of request has about as many matches at every size, so that only the size of the data differs. The sizes take
turns, so that the machine is equally fast for all.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import sqrt
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote, urlencode

import click
import msgspec

from bench.markdown import save, table
from bench.wire.cores import split_cores
from bench.wire.machine import Surroundings, surroundings
from bench.wire.sample import Sample, bake, make
from bench.wire.servers import running
from bench.wire.service_contender import service
from bench.worst.directory import Directory
from bench.worst.values import Params, Values, draw_values

_BOUND: Final = 1.3
_SIZES: Final = (10_000, 100_000, 1_000_000)
# The size that the others are compared with.
_REFERENCE: Final = 1_000_000
_MATCHES: Final = range(50, 1001)
# Of a city, from the size of reference on: few cities of 16,000,000 stores are smaller.
_OF_CITY: Final = range(800, 1001)
_REQUESTS: Final = 400
_TRIED: Final = 20_000
_PASSES: Final = 5
_RADIUS: Final = 10_000  # metres, at the size of reference
_PAGES: Final = 20
_FIRST: Final = ("limit", "50")


class Cost(msgspec.Struct, frozen=True):
    """A kind of request: the number of distinct ones, the median of their matches, CPU µs of each, the longest hold."""

    kind: str
    requests: int
    matches: int
    microseconds: float
    held: float


class Asked(msgspec.Struct, frozen=True):
    """Requests of each kind to a data set, what is known of it before they are sent, and the service."""

    file_bytes: int
    baked_seconds: float | None
    ready_seconds: float
    directory: Directory
    targets: dict[str, list[str]]


class Size(msgspec.Struct, frozen=True):
    """A data set: bytes of its file, seconds of baking and of a start in place once it is known, what requests cost.

    The file may have been baked before.
    """

    stores: int
    file_bytes: int
    baked_seconds: float | None
    ready_seconds: float
    costs: list[Cost]


class Growth(msgspec.Struct, frozen=True):
    """The sizes, in their order."""

    surroundings: Surroundings
    sizes: list[Size]

    @property
    def exceeded(self) -> bool:
        """Whether a request costs more than the bound allows on more stores than those of reference."""
        reference = next((size for size in self.sizes if size.stores == _REFERENCE), self.sizes[0])
        known = {cost.kind: cost.microseconds for cost in reference.costs}
        larger = (size for size in self.sizes if size.stores > reference.stores)
        return any(cost.microseconds > _BOUND * known[cost.kind] for size in larger for cost in size.costs)


@click.command()
@click.option("--stores", multiple=True, type=int, default=_SIZES, show_default=True, help="Numbers of stores.")
@click.option("--data", type=click.Path(exists=True, path_type=Path), multiple=True, help="More baked files, larger.")
@click.option("--seed", default=1, show_default=True)
def main(*, stores: Sequence[int], data: Sequence[Path], seed: int) -> None:
    """Print the table; exit with 1 if the bound is exceeded. A run with the default sizes updates README.md."""
    baked = {sample.baked: _bake_seconds(sample) for sample in (Sample.of(count, seed=seed) for count in stores)}
    files = {**baked, **dict.fromkeys(data)}
    core, _ = split_cores()
    asked = [_draw(file, seconds, core, seed) for file, seconds in files.items()]
    costs = zip(*(_costs(asked, kind) for kind in asked[0].targets), strict=True)
    growth = Growth(surroundings(), [_size(*each) for each in zip(asked, costs, strict=True)])
    print(_markdown(growth))
    if set(_SIZES) <= {size.stores for size in growth.sizes}:
        save("growth", results=growth, tables=_markdown(growth))
    sys.exit(growth.exceeded)


def _bake_seconds(sample: Sample) -> float:
    make(sample)
    started = time.perf_counter()
    bake(sample)
    return time.perf_counter() - started


def _draw(file: Path, baked_seconds: float | None, core: int, seed: int) -> Asked:
    seconds = min(_ready_seconds(file, core) for _ in range(2))  # the first one verifies the file
    directory, random = Directory(file), Random(seed)
    values = draw_values(directory, random)
    targets = {
        kind: list(islice(_matching(directory, targets), _REQUESTS))
        for kind, targets in _kinds(directory, values, random).items()
    }
    return Asked(file.stat().st_size, baked_seconds, seconds, directory, targets)


def _size(asked: Asked, costs: Iterable[Cost]) -> Size:
    return Size(len(asked.directory), asked.file_bytes, asked.baked_seconds, asked.ready_seconds, list(costs))


def _ready_seconds(file: Path, core: int) -> float:
    with running(service(file.resolve(), "--no-copy"), core) as server:
        return server.ready_seconds


def _kinds(directory: Directory, values: Values, random: Random) -> dict[str, Iterable[str]]:
    """Return random targets of each kind, without an end."""
    radius = f"{_RADIUS * min(sqrt(_REFERENCE / len(directory)), 10):.0f}"

    def drawn(make: Callable[[], Params]) -> Iterator[str]:
        while True:
            yield f"/stores?{urlencode([*make(), _FIRST])}"

    def company() -> Iterator[str]:
        while True:
            yield f"/companies/{quote(random.choice(values.stores)['company_id'], safe='')}"

    def point() -> str:
        latitude, longitude = random.choice(values.points)
        return f"{latitude + random.gauss(0, 0.01):.5f},{longitude + random.gauss(0, 0.01):.5f}"

    def city() -> tuple[str, str]:
        return "city", random.choice(values.stores)["city"]

    def page() -> tuple[str, str]:
        return "page_num", str(random.randint(1, _PAGES))

    return {
        "a company": company(),
        "`city`": drawn(lambda: [city()]),
        "`city`, by `name`": drawn(lambda: [city(), ("sort_by", "name")]),
        "all, page by page": drawn(lambda: [("page_num", str(random.randint(1, len(directory) // 50)))]),
        "all, by `name`": drawn(lambda: [("sort_by", "name"), page()]),
        "`near`": drawn(lambda: [("near", point())]),
        "`near`, `radius`": drawn(lambda: [("near", point()), ("radius", radius)]),
        "`q` of two words": drawn(lambda: [("q", " ".join(random.sample(random.choice(values.texts).split(), 2)))]),
    }


def _matching(directory: Directory, targets: Iterable[str]) -> Iterator[str]:
    """Yield distinct targets, of those that select only such as match about as many stores at every size."""
    for target in dict.fromkeys(islice(targets, _TRIED)):
        selects = any(f"{name}=" in target for name in ("city", "radius", "q"))
        wanted = _OF_CITY if "city=" in target and len(directory) >= _REFERENCE else _MATCHES
        if not selects or directory.count(target) in wanted:
            yield target


def _costs(asked: Sequence[Asked], kind: str) -> list[Cost]:
    """Return what requests of a kind cost at each size, once what they read is in the page cache, with empty caches."""
    best, held = [float("inf")] * len(asked), [dict.fromkeys(each.targets[kind], float("inf")) for each in asked]
    for _ in range(_PASSES):
        for number, each in enumerate(asked):
            asked[-1].directory.clear()  # which empties the caches of those before, too
            _hold(each.directory, held[number])
            asked[-1].directory.clear()
            best[number] = min(best[number], _seconds(each.directory, each.targets[kind]))
    return [_cost(each, kind, seconds, holds) for each, seconds, holds in zip(asked, best, held, strict=True)]


def _hold(directory: Directory, held: dict[str, float]) -> None:
    """Record for how long each request holds the event loop, if that is less than before."""
    for target, before in held.items():
        held[target] = min(before, directory.took(target).held)


def _seconds(directory: Directory, targets: Iterable[str]) -> float:
    """Return the CPU time of requests, without turns of the loop while a thread works, which would count twice."""
    started = time.process_time()
    for target in targets:
        directory.send(target)
    return time.process_time() - started


def _cost(asked: Asked, kind: str, best: float, held: dict[str, float]) -> Cost:
    matches = sorted(map(asked.directory.count, held))
    return Cost(kind, len(held), matches[len(matches) // 2], best / len(held) * 1e6, max(held.values()))


def _markdown(growth: Growth) -> str:
    sizes = growth.sizes
    rows = [
        (
            "file",
            *(f"{size.file_bytes / 1e6:,.0f} MB, {size.file_bytes / size.stores:.0f} B a store" for size in sizes),
        ),
        ("baked from JSON", *("-" if (taken := size.baked_seconds) is None else f"{taken:,.1f} s" for size in sizes)),
        ("ready, in place and known", *(f"{size.ready_seconds:.2f} s" for size in sizes)),
    ]
    for costs in zip(*(size.costs for size in sizes), strict=True):
        cells = (
            f"{cost.microseconds:,.1f} µs, {cost.held * 1e3:.2f} ms ({cost.requests:,}, {cost.matches:,} match)"
            for cost in costs
        )
        rows.append((costs[0].kind, *cells))
    return f"{growth.surroundings}\n\n{table(('', *(f'{size.stores:,}' for size in sizes)), rows)}"


if __name__ == "__main__":
    main()

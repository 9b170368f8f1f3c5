"""Compare the cost of requests as the data grows: `python -m bench.growth`.

Each kind of request has about as many matches at every size, so that only the size of the data differs. The sizes take
turns, so that the machine is equally fast for all.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import sqrt
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote, urlencode

import click
import msgspec

from bench.report import finish, surroundings, table
from bench.samples import Sample, make_baked
from bench.worst.directory import Directory
from bench.worst.random_requests import Params, draw_values

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
    """What distinct requests of a kind cost at a size: CPU seconds of each, the longest hold."""

    stores: int
    seconds: float
    held: float


@click.command()
@click.option("--stores", multiple=True, type=int, default=_SIZES, show_default=True, help="Numbers of stores.")
@click.option("--data", type=click.Path(exists=True, path_type=Path), multiple=True, help="More baked files, larger.")
def main(*, stores: Sequence[int], data: Sequence[Path]) -> None:
    """Print the table; exit with 1 if the bound is exceeded. A run with the default sizes updates README.md."""
    files = [*(make_baked(Sample.of(count)) for count in stores), *data]
    directories = [Directory(file) for file in files]
    targets = [_draw(directory, Random(1)) for directory in directories]
    costs = {kind: _costs(directories, [each[kind] for each in targets]) for kind in targets[0]}
    sizes = [len(directory) for directory in directories]
    rows = [
        ("bytes of a store", *(f"{file.stat().st_size / size:.0f}" for file, size in zip(files, sizes, strict=True)))
    ]
    rows += [(kind, *map(_cell, found)) for kind, found in costs.items()]
    tables = f"{surroundings()}\n\n{table(('', *(f'{size:,}' for size in sizes)), rows)}"
    exceeded = [kind for kind, found in costs.items() if _exceeds(found)]
    finish("growth", tables, is_full=set(_SIZES) <= set(sizes), missed=exceeded)


def _exceeds(costs: Sequence[Cost]) -> bool:
    """Return whether a kind costs more than the bound allows on more stores than those of reference."""
    reference = next((each for each in costs if each.stores == _REFERENCE), costs[0])
    return any(each.seconds > _BOUND * reference.seconds for each in costs if each.stores > reference.stores)


def _cell(cost: Cost) -> str:
    return f"{cost.seconds * 1e6:,.1f} µs, {cost.held * 1e3:.2f} ms"


def _draw(directory: Directory, random: Random) -> Mapping[str, Sequence[str]]:
    """Return random targets of each kind."""
    values = draw_values(directory, random)
    radius = f"{_RADIUS * min(sqrt(_REFERENCE / len(directory)), 10):.0f}"

    def drawn(make: Callable[[], Params]) -> Sequence[str]:
        every = (f"/stores?{urlencode([*make(), _FIRST])}" for _ in range(_TRIED))
        return list(islice(_matching(directory, every), _REQUESTS))

    def point() -> str:
        latitude, longitude = random.choice(values.points)
        return f"{latitude + random.gauss(0, 0.01):.5f},{longitude + random.gauss(0, 0.01):.5f}"

    def city() -> tuple[str, str]:
        return "city", random.choice(values.stores)["city"]

    def page(pages: int) -> tuple[str, str]:
        return "page_num", str(random.randint(1, pages))

    companies = (f"/companies/{quote(store['company_id'], safe='')}" for store in random.choices(values.stores, k=2000))
    return {
        "a company": list(dict.fromkeys(companies))[:_REQUESTS],
        "`city`": drawn(lambda: [city()]),
        "`city`, by `name`": drawn(lambda: [city(), ("sort_by", "name")]),
        "all, page by page": drawn(lambda: [page(len(directory) // 50)]),
        "all, by `name`": drawn(lambda: [("sort_by", "name"), page(_PAGES)]),
        "`near`": drawn(lambda: [("near", point())]),
        "`near`, `radius`": drawn(lambda: [("near", point()), ("radius", radius)]),
        "`q` of two words": drawn(lambda: [("q", " ".join(random.sample(random.choice(values.texts).split(), 2)))]),
    }


def _matching(directory: Directory, targets: Iterable[str]) -> Iterator[str]:
    """Yield distinct targets, of those that select only such as match about as many stores at every size."""
    for target in dict.fromkeys(targets):
        selects = any(f"{name}=" in target for name in ("city", "radius", "q"))
        wanted = _OF_CITY if "city=" in target and len(directory) >= _REFERENCE else _MATCHES
        if not selects or directory.count(target) in wanted:
            yield target


def _costs(directories: Sequence[Directory], targets: Sequence[Sequence[str]]) -> list[Cost]:
    """Return what requests of a kind cost at each size, once what they read is in the page cache, with empty caches."""
    best, held = [float("inf")] * len(directories), [dict.fromkeys(each, float("inf")) for each in targets]
    for _ in range(_PASSES):
        for number, directory in enumerate(directories):
            directories[-1].clear()  # which empties the caches of those before, too
            held[number] = {target: min(least, directory.took(target).held) for target, least in held[number].items()}
            directories[-1].clear()
            best[number] = min(best[number], _seconds(directory, targets[number]))
    return [
        Cost(len(directory), seconds / len(holds), max(holds.values()))
        for directory, seconds, holds in zip(directories, best, held, strict=True)
    ]


def _seconds(directory: Directory, targets: Iterable[str]) -> float:
    """Return the CPU time of requests, without turns of the loop while a thread works, which would count twice."""
    started = time.process_time()
    for target in targets:
        directory.send(target)
    return time.process_time() - started


if __name__ == "__main__":
    main()

"""Find the request that blocks the event loop longest: `python -m bench.worst`.

No other request is served while a response is composed, so the slowest one bounds the latency of all others.
"""

import sys
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Final

import click

from bench.markdown import save
from bench.wire.machine import surroundings
from bench.wire.sample import Sample, make_baked
from bench.worst.chance import by_chance
from bench.worst.collections import fill_caches
from bench.worst.directory import Directory
from bench.worst.malice import by_malice
from bench.worst.maps import maps_by_chance, maps_by_malice
from bench.worst.remote import by_remoteness
from bench.worst.report import Held, Report, markdown, parts, shares
from bench.worst.values import draw_values

_BOUND_SECONDS: Final = 0.015
_STORES: Final = 1_000_000
# Other load on the machine only adds time: all requests run this often, interleaved, and the minimum counts.
_PASSES: Final = 3
_SHOWN: Final = 10


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A data set.  [default: a generated one]")
@click.option("--stores", default=_STORES, show_default=True, help="Number of stores to generate.")
@click.option(
    "--requests", default=4000, show_default=True, help="Number of random requests for stores, and for clusters."
)
@click.option("--malice/--no-malice", default=True, show_default=True, help="Add adversarial requests.")
@click.option("--seed", default=1, show_default=True)
def main(*, data: Path | None, stores: int, requests: int, malice: bool, seed: int) -> None:
    """Print the slowest requests; exit with 1 if one exceeds the bound. A run at full size updates README.md."""
    directory = Directory(data or make_baked(Sample.of(stores, seed=seed)))
    report = _report(directory, requests, seed=seed, malice=malice)
    print(markdown(report))
    if len(directory) == _STORES and malice:
        save("worst", results=report, tables=markdown(report))
    sys.exit(not report.within_bound)


def _report(directory: Directory, requests: int, *, seed: int, malice: bool) -> Report:
    random = Random(seed)
    values = draw_values(directory, random)
    drawn = (islice(each, requests) for each in (by_chance(directory, values, random), maps_by_chance(values, random)))
    adverse = (by_malice(values, random), by_remoteness(values, random), maps_by_malice(directory, values, random))
    asked = dict.fromkeys(chain(*drawn, *(adverse if malice else ())))
    tries = [[directory.cold_seconds(target) for target in asked] for _ in range(_PASSES)]
    seconds = {target: min(taken) for target, *taken in zip(asked, *tries, strict=True)}
    slowest_alike = {parts(target): target for target in sorted(asked, key=seconds.__getitem__)}.values()
    slowest = sorted(slowest_alike, key=seconds.__getitem__, reverse=True)[:_SHOWN]
    return Report(
        stores=len(directory),
        seed=seed,
        surroundings=surroundings(),
        requests=len(seconds),
        within=shares(seconds.values()),
        filling=fill_caches(directory, asked),
        slowest=[_held(directory, target, seconds[target]) for target in slowest],
        bound=_BOUND_SECONDS,
    )


def _held(directory: Directory, target: str, cold_seconds: float) -> Held:
    matching = directory.count(target)
    warm_seconds = min(directory.warm_seconds(target) for _ in range(_PASSES))
    return Held(target, matching, cold_seconds, warm_seconds)


if __name__ == "__main__":
    main()

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
from bench.worst.adversarial_locations import adversarial_location_requests
from bench.worst.adversarial_requests import adversarial_requests
from bench.worst.cluster_requests import adversarial_cluster_requests, random_cluster_requests
from bench.worst.collections import fill_caches
from bench.worst.directory import Directory
from bench.worst.random_requests import random_requests
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
@click.option("--adversarial/--no-adversarial", default=True, show_default=True, help="Add adversarial requests.")
@click.option("--seed", default=1, show_default=True)
def main(*, data: Path | None, stores: int, requests: int, adversarial: bool, seed: int) -> None:
    """Print the slowest requests; exit with 1 if one exceeds the bound. A run at full size updates README.md."""
    directory = Directory(data or make_baked(Sample.of(stores, seed=seed)))
    report = _report(directory, requests, seed=seed, adversarial=adversarial)
    print(markdown(report))
    if len(directory) == _STORES and adversarial:
        save("worst", results=report, tables=markdown(report))
    sys.exit(not report.within_bound)


def _report(directory: Directory, requests: int, *, seed: int, adversarial: bool) -> Report:
    random = Random(seed)
    values = draw_values(directory, random)
    endless = (random_requests(directory, values, random), random_cluster_requests(values, random))
    hostile = (
        adversarial_requests(values, random),
        adversarial_location_requests(values, random),
        adversarial_cluster_requests(directory, values, random),
    )
    drawn = (islice(each, requests) for each in endless)
    targets = dict.fromkeys(chain(*drawn, *(hostile if adversarial else ())))
    tries = [[directory.cold_seconds(target) for target in targets] for _ in range(_PASSES)]
    seconds = {target: min(taken) for target, *taken in zip(targets, *tries, strict=True)}
    slowest_alike = {parts(target): target for target in sorted(targets, key=seconds.__getitem__)}.values()
    slowest = sorted(slowest_alike, key=seconds.__getitem__, reverse=True)[:_SHOWN]
    return Report(
        stores=len(directory),
        seed=seed,
        surroundings=surroundings(),
        requests=len(seconds),
        within=shares(seconds.values()),
        filling=fill_caches(directory, targets),
        slowest=[_held(directory, target, seconds[target]) for target in slowest],
        bound=_BOUND_SECONDS,
    )


def _held(directory: Directory, target: str, cold_seconds: float) -> Held:
    matching = directory.count(target)
    warm_seconds = min(directory.warm_seconds(target) for _ in range(_PASSES))
    return Held(target, matching, cold_seconds, warm_seconds)


if __name__ == "__main__":
    main()

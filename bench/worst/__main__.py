"""Find the request that blocks the event loop longest: `python -m bench.worst`.

No other request is served meanwhile, so the longest hold bounds the latency of all others.
"""

import sys
from collections.abc import Sequence
from heapq import nlargest
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

_BOUND_SECONDS: Final = 0.005
_SIZES: Final = (1_000_000, 4_000_000)
# Other load on the machine only adds time: the slowest run this often again, interleaved, and the minimum counts.
_PASSES: Final = 4
_REPEATED: Final = 400
_SHOWN: Final = 20


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A data set.  [default: generated ones]")
@click.option("--stores", multiple=True, type=int, default=_SIZES, show_default=True, help="Numbers of stores.")
@click.option(
    "--requests", default=1000, show_default=True, help="Number of random requests for stores, and for clusters."
)
@click.option("--adversarial", default=4000, show_default=True, help="Number of adversarial requests, of all of these.")
@click.option("--seed", default=1, show_default=True)
def main(*, data: Path | None, stores: Sequence[int], requests: int, adversarial: int, seed: int) -> None:
    """Print the slowest requests; exit with 1 if one exceeds the bound. A run at full size updates README.md."""
    files = [data] if data else [make_baked(Sample.of(count, seed=seed)) for count in stores]
    reports = [_report(file, requests, adversarial, seed=seed) for file in files]
    tables = "\n".join(map(markdown, reports))
    print(tables)
    if tuple(report.stores for report in reports) == _SIZES:
        save("worst", results=reports, tables=tables)
    sys.exit(not all(report.within_bound for report in reports))


def _report(data: Path, requests: int, adversarial: int, *, seed: int) -> Report:
    directory, random = Directory(data), Random(seed)
    values = draw_values(directory, random)
    endless = (random_requests(directory, values, random), random_cluster_requests(values, random))
    hostile = [
        *adversarial_requests(values, random),
        *adversarial_location_requests(values, random),
        *adversarial_cluster_requests(directory, values, random),
    ]
    drawn = [*chain(*(islice(each, requests) for each in endless))]
    targets = dict.fromkeys([*drawn, *random.sample(hostile, min(adversarial, len(hostile)))])
    took = {target: directory.took_cold(target) for target in targets}
    for _ in range(_PASSES):
        for target in nlargest(_REPEATED, took, key=took.__getitem__):
            took[target] = min(took[target], directory.took_cold(target))
    slowest_alike = {parts(target): target for target in sorted(targets, key=took.__getitem__)}.values()
    slowest = nlargest(_SHOWN, slowest_alike, key=took.__getitem__)
    return Report(
        stores=len(directory),
        seed=seed,
        surroundings=surroundings(),
        requests=len(took),
        within=shares(each.held for each in took.values()),
        filling=fill_caches(directory, targets),
        slowest=[Held(target, directory.count(target), took[target]) for target in slowest],
        bound=_BOUND_SECONDS,
    )


if __name__ == "__main__":
    main()

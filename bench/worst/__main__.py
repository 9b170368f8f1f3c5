"""Find the request that blocks the event loop longest: `python -m bench.worst`.

No other request is served meanwhile, so the longest hold bounds the latency of all others.
"""

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import parse_qsl

import click

from bench.report import finish, surroundings, table
from bench.samples import Sample, make_baked
from bench.worst.adversarial_requests import adversarial_requests
from bench.worst.directory import Directory, Filling, fill_caches
from bench.worst.random_requests import FILTERS, draw_values, random_cluster_requests, random_requests

_BOUND_SECONDS: Final = 0.005
_SIZES: Final = (1_000_000, 4_000_000)
# Other load on the machine only adds time: the slowest run this often again, interleaved, and the minimum counts.
_PASSES: Final = 4
_REPEATED: Final = 400
_SHOWN: Final = 3
_SHARES: Final = (0.5, 0.9, 0.99, 0.999)
_WIDEST: Final = 64
_NAMED: Final = 12
_GROUPED: Final = frozenset((*FILTERS, "near", "radius", "bbox", "q", "facets"))


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A baked file.  [default: generated ones]")
@click.option("--stores", multiple=True, type=int, default=_SIZES, show_default=True, help="Numbers of stores.")
@click.option("--requests", default=1000, show_default=True, help="Random requests for stores, and for clusters.")
@click.option("--adversarial", default=4000, show_default=True, help="Number of adversarial requests, of all of these.")
@click.option("--seed", default=1, show_default=True)
def main(*, data: Path | None, stores: Sequence[int], requests: int, adversarial: int, seed: int) -> None:
    """Print the slowest requests; exit with 1 if one exceeds the bound. A run at full size updates README.md."""
    files = [data] if data else [make_baked(Sample.of(count, seed=seed)) for count in stores]
    texts, longest = zip(*(_search(file, requests, adversarial, seed=seed) for file in files), strict=True)
    is_full = data is None and tuple(stores) == _SIZES
    finish("worst", "\n".join(texts), is_full=is_full, missed=max(longest) > _BOUND_SECONDS)


def _search(data: Path, requests: int, adversarial: int, *, seed: int) -> tuple[str, float]:
    """Return tables of the slowest requests to a data set, and the longest hold, of a request or of a collection."""
    directory, random = Directory(data), Random(seed)
    values = draw_values(directory, random)
    endless = (random_requests(directory, values, random), random_cluster_requests(values, random))
    hostile = list(adversarial_requests(directory, values, random))
    drawn = [*chain(*(islice(each, requests) for each in endless))]
    targets = dict.fromkeys([*drawn, *random.sample(hostile, min(adversarial, len(hostile)))])
    took = {target: directory.took_cold(target) for target in targets}
    for _ in range(_PASSES):
        for target in nlargest(_REPEATED, took, key=took.__getitem__):
            took[target] = min(took[target], directory.took_cold(target))
    slowest_alike = {_parts(target): target for target in sorted(targets, key=took.__getitem__)}.values()
    slowest = nlargest(_SHOWN, slowest_alike, key=took.__getitem__)
    rows = ((*map(_milliseconds, took[target]), f"{directory.count(target):,}", _shown(target)) for target in slowest)
    columns = ("holds the event loop", "answered after", "stores that match", "request")
    collections, longest = _filling(fill_caches(directory, targets))
    head = f"{len(directory):,} stores, seed {seed}. {surroundings()}\n"
    text = "\n".join((head, _distribution([each.held for each in took.values()]), collections, table(columns, rows)))
    return text, max(longest, took[slowest[0]].held)


def _distribution(holds: Sequence[float]) -> str:
    ordered = sorted(holds)
    within = (ordered[int(share * (len(ordered) - 1))] for share in _SHARES)
    head = ("requests", *(f"{share:.1%} within" for share in _SHARES), "the slowest", "bound")
    return table(head, [(f"{len(ordered):,}", *map(_milliseconds, (*within, ordered[-1], _BOUND_SECONDS)))])


def _filling(filled: Filling) -> tuple[str, float]:
    """Return a table of the collections of garbage, and the longest."""
    head = ("requests that fill the caches", "collections of generation 0", "1", "2", "longest of a request with one")
    generations = (f"{len(each):,}, up to {_milliseconds(max(each, default=0.0))}" for each in filled.collections)
    row = (f"{filled.requests:,}", *generations, _milliseconds(filled.longest))
    return table(head, [row]), max(chain(*filled.collections), default=0.0)


def _parts(target: str) -> frozenset[tuple[str, int]]:
    """Return the path of a request, how often it has each filter, and what else selects or counts: its group."""
    path, _, query = target.partition("?")
    counts = Counter(name for name, _ in parse_qsl(query, keep_blank_values=True))
    return frozenset([(path, 1), *((name, count) for name, count in counts.items() if name in _GROUPED)])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"


def _shown(target: str) -> str:
    """Return a request in readable form, with the counts of repeated values, and the lengths of long ones."""
    path, _, query = target.partition("?")
    params = parse_qsl(query, keep_blank_values=True)
    counts, shown = Counter(name for name, _ in params), {path: path}
    for name, value in params:
        written = f"{name}={value}" if len(value) <= _WIDEST else f"{name} of {len(value)} characters"
        shown[name] = written if counts[name] == 1 else f"{name} {counts[name]} times"
    return ", ".join(f"`{part}`" for part in list(shown.values())[:_NAMED])


if __name__ == "__main__":
    main()

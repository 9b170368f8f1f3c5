"""Find the request that holds the event loop longest: `python -m bench.worst`.

Nothing else is answered while an answer is composed, so the slowest one bounds everybody's wait.
"""

import sys
from collections.abc import Mapping
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Final

import click

from bench.markdown import keep
from bench.wire.machine import surroundings
from bench.wire.sample import Sample, make_baked
from bench.worst.chance import by_chance
from bench.worst.directory import Directory
from bench.worst.malice import by_malice
from bench.worst.report import Held, Report, markdown, parts, shares
from bench.worst.values import draw_values

_BOUND_SECONDS: Final = 0.015
_STORES: Final = 1_000_000
# A machine with other work disturbs now and then: the slowest are asked again, and their median counts.
_SUSPECTS: Final = 40
_REPEATS: Final = 7
_SHOWN: Final = 10


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="This data set.  [default: one made up]")
@click.option("--stores", default=_STORES, show_default=True, help="How many stores are made up.")
@click.option("--requests", default=4000, show_default=True, help="How many requests are drawn by chance.")
@click.option("--malice/--no-malice", default=True, show_default=True, help="Add those that are made to be slow.")
@click.option("--seed", default=1, show_default=True)
def main(*, data: Path | None, stores: int, requests: int, malice: bool, seed: int) -> None:
    """Print the slowest requests; end with 1 where one is over the bound. A full size is kept in README.md."""
    directory = Directory(data or make_baked(Sample.of(stores, seed=seed)))
    report = _report(directory, requests, seed=seed, malice=malice)
    print(markdown(report))
    if len(directory) == _STORES and malice:
        keep("worst", found=report, tables=markdown(report))
    sys.exit(not report.kept)


def _report(directory: Directory, requests: int, *, seed: int, malice: bool) -> Report:
    random = Random(seed)
    values = draw_values(directory, random)
    drawn = islice(by_chance(directory, values, random), requests)
    asked = dict.fromkeys(chain(drawn, by_malice(values, random) if malice else ()))
    seconds = {query: directory.cold_seconds(query) for query in asked}
    held = sorted((_held(directory, query) for query in _suspects(seconds)), key=lambda each: each.cold_seconds)
    seconds |= {each.query: each.cold_seconds for each in held}
    slowest_alike = {parts(each.query): each for each in held}
    return Report(
        stores=len(directory),
        seed=seed,
        surroundings=surroundings(),
        requests=len(seconds),
        within=shares(seconds.values()),
        slowest=sorted(slowest_alike.values(), key=lambda each: -each.cold_seconds)[:_SHOWN],
        bound=_BOUND_SECONDS,
    )


def _suspects(seconds: Mapping[str, float]) -> set[str]:
    """Return the slowest queries, and the slowest of those of which each is the slowest among the alike."""
    ascending = sorted(seconds, key=seconds.__getitem__)
    slowest_alike = {parts(query): query for query in ascending}.values()
    return {*ascending[-_SUSPECTS:], *sorted(slowest_alike, key=seconds.__getitem__)[-_SUSPECTS:]}


def _held(directory: Directory, query: str) -> Held:
    cold = sorted(directory.cold_seconds(query) for _ in range(_REPEATS))
    warm = sorted(directory.warm_seconds(query) for _ in range(_REPEATS))
    return Held(query, directory.answer(query), cold[_REPEATS // 2], warm[_REPEATS // 2])


if __name__ == "__main__":
    main()

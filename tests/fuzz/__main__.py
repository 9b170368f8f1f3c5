"""Fuzz everything that reads untrusted bytes: `python -m tests.fuzz`.

First, hypothesis sends the service requests of any kind, and each response is compared with that of its model; and the
properties of the tests are tried with random examples. Then running services get random requests. Then the CPU time of
each reader is measured on inputs of n, 2n and 4n bytes. Then atheris fuzzes each target; its corpus and findings are in
`tests/fuzz/found`, where the next run continues.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from random import randrange
from typing import Final

import click

from tests.fuzz.campaigns import Campaign, compare_with_model, compose, fuzz, measure_complexity, try_properties
from tests.fuzz.raw_connection import READERS
from tests.fuzz.targets import TARGETS

_SECONDS: Final = 120
_GROWTH_SECONDS: Final = 150
_SEEDED: Final = ("model", "properties", "composition")
_SEEDS: Final = 1_000_000_000
_TIME_LIMIT: Final = f"""\
Time limit of one target.  [default: {_SECONDS}; composition: none; growth: {_GROWTH_SECONDS} of CPU time]"""
_ROW: Final = "{:<12} {:>10} {:>8} {:>9} {:>9} {:>9}"


@click.command()
@click.argument("names", metavar="[TARGET]…", nargs=-1, type=click.Choice([*_SEEDED, "growth", *TARGETS]))
@click.option("--cases", default=100_000, show_default=True, help="Requests that are compared with the model.")
@click.option("--runs", default=100_000, show_default=True, help="Runs of each target.")
@click.option("--seconds", type=int, help=_TIME_LIMIT)
@click.option("--seed", type=int, help=f"First seed of {', '.join(_SEEDED)}, to repeat a finding.  [default: random]")
def main(*, names: Sequence[str], cases: int, runs: int, seconds: int | None, seed: int | None) -> None:
    """Print a line per campaign; exit with 1 if one has a finding."""
    first = randrange(_SEEDS) if seed is None else seed
    campaigns: dict[str, Callable[[], Campaign]] = {
        "model": partial(compare_with_model, cases, seed=first),
        "properties": partial(try_properties, seed=first),
        "composition": partial(compose, seed=first, seconds=seconds),
        "growth": partial(measure_complexity, READERS, seconds=seconds or _GROWTH_SECONDS),
        **{
            name: partial(fuzz, name, target, runs=runs, seconds=seconds or _SECONDS)
            for name, target in TARGETS.items()
        },
    }
    print(_ROW.format("target", "runs", "seconds", "coverage", "features", "findings"))
    found = [_printed(campaigns[name]()) for name in names or campaigns]
    sys.exit(any(each.finding for each in found))


def _printed(each: Campaign) -> Campaign:
    reached = (each.coverage or "", each.features or "")
    print(_ROW.format(each.name, each.runs, f"{each.seconds:.0f}", *reached, int(bool(each.finding))), flush=True)
    print(each.figures, each.finding, sep="", end="", flush=True)
    return each


if __name__ == "__main__":
    main()

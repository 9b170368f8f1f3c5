"""Try what reads the bytes of others with a great many of them: `python -m fuzz`.

First hypothesis asks the service questions of any kind, and each answer is compared with that of its model; then
running services answer mixed requests; then the work of each reader is measured on inputs of n, 2n and 4n bytes; then
atheris fuzzes each target. What atheris tried and found is in
`fuzz/found`, and the next run continues from there.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from random import randrange
from typing import Final

import click

from fuzz.readers import READERS
from fuzz.rounds import Round, ask_model, compose, fuzz, grow
from fuzz.targets import TARGETS

_SECONDS: Final = 120
_GROWTH_SECONDS: Final = 150
_SEEDS: Final = 1_000_000_000
_TIME_LIMIT: Final = f"""\
Time limit of one target.  [default: {_SECONDS}; composition: none; growth: {_GROWTH_SECONDS} of CPU time]"""
_ROW: Final = "{:<12} {:>10} {:>8} {:>9} {:>9} {:>9}"


@click.command()
@click.argument("names", metavar="[TARGET]…", nargs=-1, type=click.Choice(["model", "composition", "growth", *TARGETS]))
@click.option("--cases", default=100_000, show_default=True, help="Questions that are compared with the model.")
@click.option("--runs", default=100_000, show_default=True, help="Runs of each target.")
@click.option("--seconds", type=int, help=_TIME_LIMIT)
@click.option("--seed", type=int, help="First seed of composition, to repeat a finding.  [default: random]")
def main(*, names: Sequence[str], cases: int, runs: int, seconds: int | None, seed: int | None) -> None:
    """Print what was tried, a line each; end with 1 where something was found."""
    first = randrange(_SEEDS) if seed is None else seed
    rounds: dict[str, Callable[[], Round]] = {
        "model": partial(ask_model, cases),
        "composition": partial(compose, seed=first, seconds=seconds),
        "growth": partial(grow, READERS, seconds=seconds or _GROWTH_SECONDS),
        **{
            name: partial(fuzz, name, target, runs=runs, seconds=seconds or _SECONDS)
            for name, target in TARGETS.items()
        },
    }
    print(_ROW.format("target", "runs", "seconds", "coverage", "features", "findings"))
    found = [_printed(rounds[name]()) for name in names or rounds]
    sys.exit(any(each.finding for each in found))


def _printed(each: Round) -> Round:
    reached = (each.coverage or "", each.features or "")
    print(_ROW.format(each.name, each.runs, f"{each.seconds:.0f}", *reached, int(bool(each.finding))), flush=True)
    print(each.figures, each.finding, sep="", end="", flush=True)
    return each


if __name__ == "__main__":
    main()

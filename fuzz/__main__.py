"""Try what reads the bytes of others with a great many of them: `python -m fuzz`.

First the service is asked whatever hypothesis thinks of, and each answer compared with that of its model; then atheris
fuzzes each target. What it tried and what it found lie in `fuzz/found`, so that the next time goes on from there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from fuzz.rounds import Round, ask_model, fuzz
from fuzz.targets import TARGETS

_ROW: Final = "{:<12} {:>10} {:>8} {:>9} {:>9} {:>9}"


@click.command()
@click.argument("names", metavar="[TARGET]…", nargs=-1, type=click.Choice(["model", *TARGETS]))
@click.option("--cases", default=100_000, show_default=True, help="Questions that are compared with the model.")
@click.option("--runs", default=100_000, show_default=True, help="Runs of each target.")
@click.option("--seconds", default=120, show_default=True, help="The most that one target takes.")
def main(*, names: Sequence[str], cases: int, runs: int, seconds: int) -> None:
    """Print what was tried, a line each; end with 1 where something was found."""
    print(_ROW.format("target", "runs", "seconds", "coverage", "features", "findings"))
    found = [_told(_try(name, cases, runs, seconds)) for name in names or ("model", *TARGETS)]
    sys.exit(any(each.finding for each in found))


def _try(name: str, cases: int, runs: int, seconds: int) -> Round:
    if name == "model":
        return ask_model(cases)
    return fuzz(name, TARGETS[name], runs=runs, seconds=seconds, folder=Path(__file__).parent / "found" / name)


def _told(each: Round) -> Round:
    reached = (each.coverage or "", each.features or "")
    print(_ROW.format(each.name, each.runs, f"{each.seconds:.0f}", *reached, int(bool(each.finding))), flush=True)
    print(each.finding, end="", flush=True)
    return each


if __name__ == "__main__":
    main()

"""Run the tests at the lowest and the latest release of every dependency, on every Python there is: `make matrix`."""

import shlex
import sys
from collections.abc import Sequence
from itertools import product, starmap

import click

from tests.matrix.cell import RESOLUTIONS, Cell, run_cell
from tests.matrix.pythons import Python, find_pythons, identify
from tests.matrix.report import passed, report


@click.command()
@click.option(
    "--only", "resolutions", multiple=True, type=click.Choice(list(RESOLUTIONS)), help="One end of the bounds."
)
@click.option("--pytest", "options", multiple=True, help="Options of pytest, or the tests to run.")
@click.argument("programs", metavar="[PYTHON]...", nargs=-1)
def main(resolutions: Sequence[str], options: Sequence[str], programs: Sequence[str]) -> None:
    """Run the tests with each PYTHON, by default all that there are, at both ends of the bounds of pyproject.toml.

    Print a table of the releases and one of the results, and end with 1 where a cell failed.
    """
    pythons = list(map(_identified, programs)) if programs else find_pythons()
    given = [word for option in options for word in shlex.split(option)]
    results = []
    for cell in starmap(Cell, product(pythons, resolutions or RESOLUTIONS)):
        click.echo(f"Python {cell.python.release}, {cell.resolution} releases")
        results.append(run_cell(cell, given))
    click.echo(report(results))
    sys.exit(not passed(results))


def _identified(program: str) -> Python:
    python = identify(program)
    if python is None:
        raise click.UsageError(f"{program} is no Python that the project supports")
    return python


if __name__ == "__main__":
    main()

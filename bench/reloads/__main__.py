"""Measure starts, reloads and several workers: `python -m bench.reloads`."""

import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Literal, TypeVar

import click

from bench.markdown import save
from bench.reloads.footprints import BOUND_STORES, footprints
from bench.reloads.latency import reloads
from bench.reloads.reload_report import Report, markdown
from bench.reloads.setup import Setup
from bench.reloads.sharing import sharings
from bench.reloads.starts import starts
from bench.wire.cores import split_cores
from bench.wire.load import LoadGenerator
from bench.wire.machine import surroundings
from bench.wire.servers import Failed

_SIZES: Final = (10_000, 100_000)
_LARGE: Final = 1_000_000
_SHARED: Final = 100_000
_PAGE: Final = Path(__file__).parents[2] / "docs" / "running.md"

Part = Literal["starts", "reloads", "memory", "sharing"]
_PARTS: Final[tuple[Part, ...]] = ("starts", "reloads", "memory", "sharing")
_Found = TypeVar("_Found")


@click.command()
@click.option("--stores", type=int, multiple=True, help=f"Number of stores; repeatable.  [default: {_SIZES}]")
@click.option("--large", is_flag=True, help=f"Add {_LARGE:,} stores.")
@click.option("--part", "parts", type=click.Choice(_PARTS), multiple=True, help="Run only this part; repeatable.")
@click.option("--seed", default=1, show_default=True)
@click.option("--repeats", default=5, show_default=True, help="Starts, reloads or pairs of runs per case.")
@click.option("--connections", default=32, show_default=True, help="Connections of wrk.")
@click.option("--seconds", default=2, show_default=True, help="Length of a run of wrk.")
def main(  # noqa: PLR0913 - one for each option
    *,
    stores: tuple[int, ...],
    large: bool,
    parts: tuple[Part, ...],
    seed: int,
    repeats: int,
    connections: int,
    seconds: int,
) -> None:
    """Print the tables; exit with 1 if a bound is exceeded. A run of all parts and sizes updates the docs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    core, load_core = split_cores()
    setup = Setup(seed, repeats, core, LoadGenerator(load_core, connections, seconds))
    sizes = [*(stores or _SIZES), *([_LARGE] if large else [])]
    try:
        report = _report(setup, sizes, parts or _PARTS)
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed
    print(markdown(report))
    if not stores and not parts:
        save("reloads", results=report, tables=markdown(report), page=_PAGE)
    sys.exit(bool(report.missed))


def _report(setup: Setup, sizes: list[int], parts: tuple[Part, ...]) -> Report:
    def of(part: Part, measure: Callable[[Setup, int], Iterable[_Found]], stores: Iterable[int]) -> list[_Found]:
        return [found for each in stores if part in parts for found in measure(setup, each)]

    return Report(
        surroundings=surroundings(),
        starts=of("starts", starts, sizes),
        reloads=of("reloads", reloads, sizes),
        footprints=of("memory", footprints, sorted({*sizes, BOUND_STORES})),
        sharings=of("sharing", sharings, [_SHARED]),
    )


if __name__ == "__main__":
    main()

"""Measure the effect of hostile clients: `python -m bench.hostile`."""

import resource
import signal
import sys
from pathlib import Path
from typing import Final, Literal

import click

from bench.hostile.attack_report import Report, markdown
from bench.hostile.attacks import attacks
from bench.hostile.cost import costs
from bench.hostile.slow import slow
from bench.markdown import save
from bench.wire.cores import split_cores
from bench.wire.machine import surroundings
from bench.wire.servers import Failed

_PAGE: Final = Path(__file__).parents[2] / "docs" / "hostile.md"

Part = Literal["slow", "costs", "attacks"]
_PARTS: Final[tuple[Part, ...]] = ("slow", "costs", "attacks")


@click.command()
@click.option("--part", "parts", type=click.Choice(_PARTS), multiple=True, help="Run only this part; repeatable.")
@click.option("--connections", default=4000, show_default=True, help="Connections of slowhttptest.")
@click.option("--pairs", default=3, show_default=True, help="Pairs of measurements of each attack and each request.")
@click.option("--seconds", default=1.5, show_default=True, help="Length of a measurement of latency.")
def main(*, parts: tuple[Part, ...], connections: int, pairs: int, seconds: float) -> None:
    """Print the tables; exit with 1 if a bound is missed. A run of all parts updates docs/hostile.md."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    core, load = split_cores()
    wanted = parts or _PARTS
    try:
        report = Report(
            surroundings(),
            connections,
            slow(core, load, connections=connections, pairs=pairs, seconds=2 * seconds) if "slow" in wanted else {},
            costs(core, pairs=pairs) if "costs" in wanted else {},
            attacks(core, load, pairs=pairs, seconds=seconds) if "attacks" in wanted else {},
        )
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed
    print(markdown(report))
    if set(wanted) == set(_PARTS):
        save("hostile", results=report, tables=markdown(report), page=_PAGE)
    sys.exit(bool(report.missed))


if __name__ == "__main__":
    main()

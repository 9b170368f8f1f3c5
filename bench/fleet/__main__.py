"""Change a fleet under load, as planned and by force: `python -m bench.fleet`."""

import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from bench.fleet.changes import CHANGES
from bench.fleet.fleet_report import Report, markdown
from bench.fleet.lifetimes import POLICIES, measure
from bench.fleet.marked_editions import make_editions
from bench.fleet.trial import make_trial
from bench.fleet.visitors import Pace
from bench.markdown import save
from bench.wire.machine import surroundings
from bench.wire.servers import Failed

_PAGE: Final = Path(__file__).parents[2] / "docs" / "fleet.md"
_DEFAULTS: Final = (20_000, 6, 20.0)
# So little that two cores serve all of it, the clients included.
_PACE: Final = Pace(balancer_clients=4, cache_clients=4, rate=20, streams=3)
_CACHE_PACE: Final = Pace(balancer_clients=0, cache_clients=8, rate=25)


@click.command()
@click.option("--stores", default=_DEFAULTS[0], show_default=True)
@click.option("--replicas", default=_DEFAULTS[1], show_default=True)
@click.option("--seconds", default=_DEFAULTS[2], show_default=True, help="Length of the run of each --cache-control.")
def main(*, stores: int, replicas: int, seconds: float) -> None:
    """Print the tables; exit with 1 if a promise is not kept. A run with the defaults updates docs/fleet.md."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    try:
        with TemporaryDirectory() as name:
            folder = Path(name)
            editions = make_editions(folder, stores=stores, count=1 + len(CHANGES))
            trial = make_trial(folder / "trial", editions, CHANGES, replicas=replicas, pace=_PACE)
            lifetimes = [
                measure(folder / f"cache-{number}", editions, policy, _CACHE_PACE, seconds)
                for number, policy in enumerate(POLICIES)
            ]
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed
    report = Report(surroundings(), stores, trial, lifetimes)
    print(markdown(report))
    if (stores, replicas, seconds) == _DEFAULTS:
        save("fleet", results=report, tables=markdown(report), page=_PAGE)
    sys.exit(bool(report.missed))


if __name__ == "__main__":
    main()

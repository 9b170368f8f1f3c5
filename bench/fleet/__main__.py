"""Change a fleet under load, as planned and by force: `python -m bench.fleet`."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from bench.fleet.trial import (
    CHANGES,
    POLICIES,
    Lifetime,
    Outcome,
    Pace,
    Transfer,
    Trial,
    make_trial,
    measure,
    transfers,
)
from bench.report import finish, surroundings, table
from bench.samples import Sample, editions

_DEFAULTS: Final = (20_000, 6, 20.0)
# So little that two cores serve all of it, the clients included.
_PACE: Final = Pace(balancer_clients=4, cache_clients=4, rate=20, streams=3)
_LAST: Final = "last replica, s"
_RECEIVED: Final = "MB a replica"
_CACHE_PACE: Final = Pace(balancer_clients=0, cache_clients=8, rate=25)


@click.command()
@click.option("--stores", default=_DEFAULTS[0], show_default=True)
@click.option("--replicas", default=_DEFAULTS[1], show_default=True)
@click.option("--seconds", default=_DEFAULTS[2], show_default=True, help="Length of the run of each --cache-control.")
def main(*, stores: int, replicas: int, seconds: float) -> None:
    """Print the tables; exit with 1 if a promise is not kept. A run with the defaults updates bench/README.md."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = editions(Sample.of(stores, home=folder), count=1 + len(CHANGES))
        moved = list(transfers(folder / "transfers", made, replicas))
        trial = make_trial(folder / "trial", made, CHANGES, replicas=replicas, pace=_PACE)
        lifetimes = [
            measure(folder / f"cache-{number}", made, policy, _CACHE_PACE, seconds)
            for number, policy in enumerate(POLICIES)
        ]
    missed = [*trial.missed, *(miss for each in lifetimes for miss in each.missed)]
    is_full = (stores, replicas, seconds) == _DEFAULTS
    finish("fleet", _tables(trial, lifetimes, moved, missed), is_full=is_full, missed=missed)


def _tables(trial: Trial, lifetimes: Sequence[Lifetime], moved: Sequence[Transfer], missed: Sequence[str]) -> str:
    same = f"{trial.compared - len(trial.different)} of {trial.compared} responses"
    seen = ("change", "whole answers", "of these 412", "repeated by HAProxy", "cut", "failed", "mixed")
    rates = ("answers", "hits, %", "revalidated, %", "requests to replicas, %", "old data until, s")
    parts = (
        f"{surroundings()}\n",
        table((*seen, _LAST, _RECEIVED), map(_outcome, trial.outcomes)),
        f"{same} have the same bytes and the same entity tag from each of {trial.replicas} replicas.\n",
        table(("new data, without load", _RECEIVED, "of the plain file, %", _LAST), map(_transfer, moved)),
        table(("`--cache-control`", *rates), map(_lifetime, lifetimes)),
        "".join(f"- Missed: {miss}.\n" for miss in missed),
    )
    return "\n".join(part for part in parts if part)


def _outcome(each: Outcome) -> Sequence[str]:
    kinds = ("complete", "moved", "repeated", "cut", "failed", "mixed")
    numbers = (f"{each.counts[kind]:,}" for kind in kinds)
    last = "-" if each.seconds is None else f"{each.seconds:.1f}"
    return (each.change.name, *numbers, last, f"{each.received / 1e6:.1f}")


def _transfer(each: Transfer) -> Sequence[str]:
    share = f"{100 * each.received / each.size:.0f}"
    return (f"`{each.name}`", f"{each.received / 1e6:.1f}", share, f"{each.seconds:.1f}")


def _lifetime(each: Lifetime) -> Sequence[str]:
    complete = each.counts["complete"]
    shares = (f"{100 * each.counts[kind] / complete:.0f}" for kind in ("HIT", "REVALIDATED", "requests"))
    old = "to the end" if each.old > each.watched - 1 else f"{each.old:.1f}"
    return (f"`{each.policy}`", f"{complete:,}", *shares, old)


if __name__ == "__main__":
    main()

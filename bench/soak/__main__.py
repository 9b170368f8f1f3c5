"""Run an hour of mixed load against the service, and fail on leaks and wrong responses: `python -m bench.soak`."""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Final

import click
import msgspec
import orjson

from bench.markdown import table
from bench.reloads.published_data import FORMS, Form, Published, editions, publish_in_turn
from bench.reloads.setup import with_workers
from bench.reloads.worker_connections import connected
from bench.soak.clients import Client, Persistent, Reconnecting, SlowReader, all_paused
from bench.soak.expectations import Checker, every_request
from bench.soak.process_history import History, markdown, members, sample
from bench.wire.cores import split_cores
from bench.wire.machine import surroundings
from bench.wire.sample import Sample
from bench.wire.servers import Failed, Server, running
from bench.wire.shapes import KEY

_KINDS: Final[tuple[type[Client], ...]] = (Persistent, Persistent, Persistent, Reconnecting, SlowReader)
_RELOAD_SECONDS: Final = 60
_PAUSE_SECONDS: Final = 0.2


class Run(msgspec.Struct, frozen=True):
    """A service under load: its data, its clients, and its results."""

    name: str
    server: Server
    data: Published
    checker: Checker
    clients: Sequence[Client]
    histories: Sequence[History]


@click.command()
@click.option("--minutes", default=60.0, show_default=True, help="Length of the run.")
@click.option("--every", default=60.0, show_default=True, help="Seconds between reloads, and between samples.")
@click.option("--stores", default=20_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--workers", default=(2, 1), multiple=True, help="Workers of a service; repeatable.  [default: 2 and 1]")
def main(*, minutes: float, every: float, stores: int, seed: int, workers: tuple[int, ...]) -> None:
    """Print the memory of each process and the counts of responses; exit with 1 if something grew or failed.

    The services run at the same time. The first serves files, the next a baked file, and so on in turn.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the servers are stopped too
    cores, active = split_cores(), Event()
    active.set()
    try:
        with ExitStack() as stack:
            runs = [
                stack.enter_context(_loaded(Sample.of(stores, seed=seed), FORMS[number % 2], count, cores, active))
                for number, count in enumerate(workers)
            ]
            reloads = _soak(runs, active, minutes * 60, every)
    except Failed as failed:
        raise click.ClickException(str(failed)) from failed
    _report(runs, minutes, reloads)


@contextmanager
def _loaded(sample: Sample, form: Form, workers: int, cores: tuple[int, int], active: Event) -> Iterator[Run]:
    """Start a service and its clients."""
    with (
        publish_in_turn(sample, editions(sample), form) as data,
        running(with_workers(data.path, workers), *cores) as server,
    ):
        with connected(server, workers):
            pids = members(server.pid)
        name = f"{form}, {workers} worker{'s' * (workers > 1)}"
        company = orjson.loads(server.fetch("/companies?limit=1", KEY).body)["data"][0]["company_id"]
        checker, requests = Checker(), every_request(company)
        clients = [
            kind(server.port, requests, checker, first=7 * number, running=active) for number, kind in enumerate(_KINDS)
        ]
        for client in clients:
            client.start()
        yield Run(name, server, data, checker, clients, [History(f"{name}: {pid}", pid, []) for pid in pids])
        for client in clients:
            client.stop()


def _soak(runs: Sequence[Run], active: Event, seconds: float, every: float) -> int:
    """Sample each process and replace the data, repeatedly; return the number of reloads."""
    started = time.monotonic()
    everyone = [client for run in runs for client in run.clients]
    rounds = 0
    while (at := time.monotonic() - started) < seconds:
        with all_paused(everyone, active):
            for run in runs:
                _sample(run, at)
        for run in runs:
            _reload(run)
        rounds += 1
        time.sleep(max(0.0, min(rounds * every, seconds) - (time.monotonic() - started)))
    with all_paused(everyone, active):
        for run in runs:
            _sample(run, time.monotonic() - started)
    return rounds


def _sample(run: Run, at: float) -> None:
    if members(run.server.pid) != [history.pid for history in run.histories]:
        run.checker.fail("a process ended or was started")
        return
    for history in run.histories:
        history.samples.append(sample(history.pid, at))


def _reload(run: Run) -> None:
    """Publish the other edition and wait until it is served."""
    before, until = _generation(run), time.monotonic() + _RELOAD_SECONDS
    run.data.publish()
    while _generation(run) == before:
        if time.monotonic() > until:
            run.checker.fail(f"no new data after {_RELOAD_SECONDS} s")
            return
        time.sleep(_PAUSE_SECONDS)


def _generation(run: Run) -> int:
    return int(orjson.loads(run.server.fetch("/ready", KEY).body)["generation"])


def _report(runs: Sequence[Run], minutes: float, reloads: int) -> None:
    statuses = sorted({status for run in runs for status in run.checker.statuses})
    rows = [
        (run.name, str(reloads), *(f"{run.checker.statuses[status]:,}" for status in statuses), str(run.checker.failed))
        for run in runs
    ]
    histories = [history for run in runs for history in run.histories]
    print(f"{surroundings()}\n\n{minutes:g} minutes.\n")
    print(table(("service", "reloads", *map(str, statuses), "failed or mixed"), rows))
    print(markdown(histories))
    missed = [miss for history in histories for miss in history.missed]
    missed += [f"{run.name}: {why}" for run in runs for why in run.checker.failures]
    print("\n".join(f"- Failed: {miss}." for miss in missed) or "Nothing grew and nothing failed.")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()

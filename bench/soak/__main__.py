"""Run an hour of mixed load against the service, and fail on leaks and wrong responses: `python -m bench.soak`."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Final

import click
import msgspec
import orjson

from bench.fleet.ledger import Ledger, Sent
from bench.fleet.visitors import StreamReader, Visitor, every_target, visiting
from bench.report import surroundings, table
from bench.samples import FORMS, Form, Published, Sample, editions, publish_in_turn
from bench.servers import Server, running, split_cores
from bench.shapes import KEY
from bench.soak.process_history import History, markdown, members, sample
from bench.workers import connected, with_workers
from service.web.http.content_coding import CODINGS

_CODINGS: Final = [coding.token for coding in CODINGS]
_RELOAD_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.2
_WRONG: Final[Mapping[str, str]] = {"x-api-key": "wrong"}
_STRICT: Final[Mapping[str, str]] = {"x-api-key": KEY, "Prefer": "handling=strict"}
_OTHERS: Final = (
    *(Sent(target, method="HEAD", has_data=False) for target in ("/stores?limit=100", "/companies?sort_by=name")),
    *(Sent(path, fields={}, has_data=False) for path in ("/health", "/ready", "/openapi.json", "/docs")),
    Sent("/metrics", has_data=False),
    Sent("/stores", status=401, fields={}, has_data=False),
    Sent("/companies", status=401, fields=_WRONG, has_data=False),
    Sent("/nowhere", status=404, has_data=False),
    Sent("/companies/nobody", status=404, has_data=False),
    Sent("/stores?limit=0&sort_by=x&is_open=maybe", status=422, has_data=False),
    Sent("/stores?colour=red", status=422, fields=_STRICT, has_data=False),
    Sent("/stores", status=405, method="POST", has_data=False),
)


class Run(msgspec.Struct, frozen=True):
    """A service under load: its data, what is sent to it, and its results."""

    name: str
    server: Server
    data: Published
    targets: Sequence[str]
    ledger: Ledger
    counts: Counter[str]
    histories: Sequence[History]

    def visitors(self) -> Sequence[Visitor]:
        """Return new clients, without pauses: three that keep their connections, one that does not, a slow reader."""
        place = (self.server.port, self.targets, self.ledger)
        sends = partial(Visitor, *place, pause=0, codings=_CODINGS, others=_OTHERS)
        keeping = [sends(seed=seed) for seed in range(3)]
        return [*keeping, sends(seed=3, reconnects=True), StreamReader(*place, pause=0, seed=4)]

    def reload(self) -> None:
        """Publish the other edition and wait until it is served."""
        version, until = self.data.publish().version, time.monotonic() + _RELOAD_SECONDS
        while orjson.loads(self.server.fetch("/ready").body)["version"] != version:
            if time.monotonic() > until:
                self.ledger.problem("failed", Sent("/ready"), f"no new data after {_RELOAD_SECONDS} s")
                return
            time.sleep(_POLL_SECONDS)

    def sample(self, at: float) -> None:
        """Note the state of each process."""
        if members(self.server.pid) != [history.pid for history in self.histories]:
            self.ledger.problem("failed", Sent("/"), "a process ended or was started")
            return
        for history in self.histories:
            history.samples.append(sample(history.pid, at))


@click.command()
@click.option("--minutes", default=60.0, show_default=True, help="Length of the run.")
@click.option("--every", default=60.0, show_default=True, help="Seconds between reloads, and between samples.")
@click.option("--stores", default=20_000, show_default=True)
@click.option("--workers", default=(2, 1), multiple=True, help="Workers of a service; repeatable.  [default: 2 and 1]")
def main(*, minutes: float, every: float, stores: int, workers: tuple[int, ...]) -> None:
    """Print the memory of each process and the counts of responses; exit with 1 if something grew or failed.

    The services run at the same time. The first serves files, the next a baked file, and so on in turn.
    """
    cores = split_cores()
    with ExitStack() as stack:
        runs = [
            stack.enter_context(_served(Sample.of(stores), FORMS[number % 2], count, cores))
            for number, count in enumerate(workers)
        ]
        reloads = _soak(runs, minutes * 60, every)
    _report(runs, minutes, reloads)


@contextmanager
def _served(dataset: Sample, form: Form, workers: int, cores: tuple[int, int]) -> Iterator[Run]:
    """Start a service."""
    made = editions(dataset)
    with publish_in_turn(dataset, made, form) as data, running(with_workers(data.path, workers), *cores) as server:
        with connected(server, workers):
            pids = members(server.pid)
        name = f"{form}, {workers} worker{'s' * (workers > 1)}"
        histories = [History(f"{name}: {pid}", pid, []) for pid in pids]
        yield Run(name, server, data, every_target(server.port), Ledger(made), Counter(), histories)


def _soak(runs: Sequence[Run], seconds: float, every: float) -> int:
    """Send load and replace the data, then note the state of each process, repeatedly; return the number of reloads."""
    started, rounds = time.monotonic(), 0
    for run in runs:
        run.sample(0)
    while time.monotonic() - started < seconds:
        rounds += 1
        with visiting([visitor for run in runs for visitor in run.visitors()]):
            for run in runs:
                run.reload()
            time.sleep(max(0.0, min(rounds * every, seconds) - (time.monotonic() - started)))
        for run in runs:
            run.sample(time.monotonic() - started)
            run.counts.update(run.ledger.take())
    return rounds


def _report(runs: Sequence[Run], minutes: float, reloads: int) -> None:
    statuses = sorted({kind for run in runs for kind in run.counts if kind.isdecimal()})
    kinds = (*statuses, "cut", "failed", "mixed")
    rows = [(run.name, str(reloads), *(f"{run.counts[kind]:,}" for kind in kinds)) for run in runs]
    histories = [history for run in runs for history in run.histories]
    print(f"{surroundings()}\n\n{minutes:g} minutes.\n")
    print(table(("service", "reloads", *kinds), rows))
    print(markdown(histories))
    missed = [miss for history in histories for miss in history.missed]
    missed += [f"{run.name}: {why}" for run in runs for why in run.ledger.problems]
    missed += [f"{run.name}: {run.counts['cut']} answers were cut" for run in runs if run.counts["cut"]]
    print("\n".join(f"- Failed: {miss}." for miss in missed) or "Nothing grew and nothing failed.")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()

"""A test session: send random requests to services while their data is replaced again and again."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, cycle
from math import inf, isnan, nan
from pathlib import Path
from time import monotonic
from typing import Final

from msgspec.structs import replace

from tests.composition.checker import Checker
from tests.composition.configurations import KEY, PLAIN_KEY, SERVICES, write_keys
from tests.composition.coverage_counters import CoverageCounters
from tests.composition.editions import Edition, write_editions
from tests.composition.questions import RECORDS, Question, Questions
from tests.composition.random_draws import RandomDraws
from tests.composition.random_requests import Context, random_request
from tests.composition.request import HTTP_1_0, HTTP_1_1, Pipeline, Request, Sent
from tests.composition.service import Service
from tests.composition.target import PathKind, Target
from tests.program import eventually, serving
from tests.web.reply import Reply

_LISTS: Final = 25
_BATCHES: Final = {1: 4, 2: 2, 3: 2, 8: 1}
# Version of HTTP and Connection field -> weight: of the last request of a short-lived connection, and of all others but
# those of files, which would end a connection of HTTP/1.0.
_LAST: Final = {(HTTP_1_1, "close"): 3, (HTTP_1_0, ""): 3, (HTTP_1_0, "keep-alive"): 2}
_OTHERS: Final = {
    (HTTP_1_1, ""): 8,
    (HTTP_1_1, "keep-alive"): 1,
    (HTTP_1_0, "keep-alive"): 1,
    (HTTP_1_0, "Keep-Alive"): 1,
}
# Requests are sent in waves, several at once. The share of waves in which a service gets a short-lived connection:
_SHORT_LIVED: Final = 0.15
_WAVES_PER_RELOAD: Final = 16
# The first data set that is dated has this time; each that follows comes so many seconds after the latest one, is not
# dated (nan), or is what is served already (inf).
_START: Final = datetime(2024, 5, 31, 8, tzinfo=UTC)
_APART: Final = {1: 4, 1.5: 4, 3600: 2, 0.5: 1, 0: 1, -1: 1, nan: 1, inf: 1}
_PAGE: Final = Question("/companies", "/companies", (("limit", "7"),))
_PROBE: Final = Request(
    Target(_PAGE, PathKind.RESOURCE, _PAGE.path, ("limit=7",), noisy=False, invalid=False), fields={KEY: PLAIN_KEY}
)


def run_session(folder: Path, seed: int, requests: int, *, deadline: float = inf) -> CoverageCounters:
    """Start the services and send at least `requests` requests, until `deadline` at most (in `monotonic` seconds).

    Returns the coverage counters. Raises `Violation` or another `AssertionError`, with the seed in a note.
    """
    try:
        editions = write_editions(folder / "data", seed)
        with _services(folder, editions, checker := Checker()) as services:
            return _Session(folder / "dated", seed, services, editions, checker).run(requests, deadline)
    except AssertionError as error:
        error.add_note(f"seed {seed}; to repeat it: make fuzz ARGS='--seed {seed} composition'")
        raise


@contextmanager
def _services(folder: Path, editions: Sequence[Edition], checker: Checker) -> Iterator[Sequence[Service]]:
    keys = write_keys(folder / "keys.json")
    with ExitStack() as stack:
        services = []
        for config in SERVICES:
            link = folder / f"data of {config.name}"
            link.symlink_to(editions[0].baked if config.baked else editions[0].folder)
            arguments = config.arguments(link, keys)
            log, program = folder / config.name, (sys.executable, "-m", config.module)
            started = serving(*arguments, "--cache", folder / "cache", log=log, program=program)
            running = stack.enter_context(started)
            services.append(Service(config, running, link, editions[0], checker))
            stack.callback(services[-1].close)
        yield services


class _Session:
    def __init__(
        self, folder: Path, seed: int, services: Sequence[Service], editions: Sequence[Edition], checker: Checker
    ) -> None:
        self._folder, self._numbers = folder, count()
        self._draws, self._services, self._editions = RandomDraws(seed), services, editions
        questions = Questions(self._draws, {field: self._known(field) for field in RECORDS}, lists=_LISTS)
        self._dates: list[int] = []
        self._seen = Context(questions, editions, self._dates, checker.ledger, [])
        self._sent = 0

    def run(self, requests: int, deadline: float) -> CoverageCounters:
        """Send waves until there are enough requests, reloading each service in turn; return the coverage counters."""
        reloads = cycle([(service, self._data_sets()) for service in self._services])
        while self._sent < requests and monotonic() < deadline:
            service, datasets = next(reloads)
            self._wait_for(service)
            self._wave(partial(service.reload, self._dated(service, next(datasets))))
            for _ in range(_WAVES_PER_RELOAD):
                self._wave()
        for service in self._services:
            service.budget.check()
        return CoverageCounters(sum((service.counters for service in self._services), Counter()))

    def _known(self, field: str) -> Sequence[str]:
        """Return an identifier of each data set, and one of none."""
        drawn = [self._draws.one(edition.identifiers[field]) for edition in self._editions]
        return [*dict.fromkeys(drawn), "nobody"]

    def _data_sets(self) -> Iterator[Edition]:
        """Yield the data sets that a service loads: all of them in random order, then again."""
        while True:
            yield from self._draws.shuffled(self._editions)

    def _dated(self, service: Service, edition: Edition) -> Edition:
        """Return a data set with a time that is new, that of data before, earlier, or none; or what is served again."""
        apart = self._draws.weighted(_APART)
        if apart == inf:
            return service.loaded
        when = None if isnan(apart) else (service.latest or _START) + timedelta(seconds=apart)
        if when is not None:
            self._dates.append(int(when.timestamp()))
        return edition.dated(self._folder / str(next(self._numbers)), when)

    def _wave(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Send requests to all services, do something meanwhile, and read all replies."""
        asked = [(service, *asking) for service in self._services for asking in self._batches(service)]
        for _, connection, batch in asked:
            connection.send(batch)
        meanwhile()
        for service, connection, batch in asked:
            replies = [service.receive(connection, sent) for sent in batch]
            service.counters["pipelined"] += len(batch) - 1
            if connection not in service.persistent:
                if _ends(batch[-1], replies[-1]):
                    assert connection.ends(), f"the connection stays open after {batch[-1]}"
                service.forget(connection)

    def _batches(self, service: Service) -> Iterator[tuple[Pipeline, list[Sent]]]:
        """Yield connections to a service with the requests to send on each."""
        asked = [(connection, self._batch(service)) for connection in service.persistent]
        if self._draws.happens(_SHORT_LIVED):
            asked.append((service.connect(), self._batch(service, short_lived=True)))
        for connection, batch in asked:
            others = {sent.request.key for other, sents in asked if other is not connection for sent in sents}
            yield connection, [replace(sent, contended=sent.request.key in others) for sent in batch]

    def _batch(self, service: Service, *, short_lived: bool = False) -> list[Sent]:
        drawn = [random_request(self._draws, self._seen) for _ in range(self._draws.weighted(_BATCHES))]
        first, self._sent = self._sent + 1, self._sent + len(drawn)
        return [
            Sent(number, service.config.name, each, *self._connection(each, last=short_lived and each is drawn[-1]))
            for number, each in enumerate(drawn, first)
        ]

    def _connection(self, request: Request, *, last: bool) -> tuple[str, str]:
        """Return the version of HTTP of a request, and its Connection field."""
        if last:
            return self._draws.weighted(_LAST)
        return (HTTP_1_1, "") if request.target.question.is_file else self._draws.weighted(_OTHERS)

    def _wait_for(self, waited: Service) -> None:
        """Wait until a service serves what was published last, and keep all connections from timing out."""

        def has_reloaded() -> bool:
            for service in self._services:
                for connection in service.persistent:
                    sent = Sent(0, service.config.name, _PROBE)
                    connection.send([sent])
                    service.receive(connection, sent)
                    service.check_document(connection)
            return waited.has_reloaded()

        try:
            eventually(has_reloaded)
        except AssertionError as error:
            error.add_note(f"while waiting for {waited}")
            raise


def _ends(sent: Sent, reply: Reply) -> bool:
    """Return whether the connection ends with a reply (RFC 9112 section 9.3)."""
    connection = reply.headers.get("Connection")
    return connection == "close" if sent.version == HTTP_1_1 else connection != "keep-alive"

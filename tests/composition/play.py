"""A run: services are asked a mixed sequence of requests, while their data is replaced again and again."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final

from tests.composition.chance import Chance
from tests.composition.checker import Checker
from tests.composition.connection import Connection
from tests.composition.editions import Edition, write_editions
from tests.composition.mix import Seen, draw
from tests.composition.questions import Question, Questions
from tests.composition.request import Request, Sent
from tests.composition.service import Service
from tests.composition.tally import Tally
from tests.composition.target import Place, Target
from tests.composition.terms import KEY, PLAIN_KEY, SERVICES, write_keys
from tests.program import serving

_LISTS: Final = 25
_BATCHES: Final = {1: 4, 2: 2, 3: 2, 8: 1}
# Of all waves of requests, those with a connection of their own to a service, and those with a reload of one.
_PASSING: Final = 0.15
_RELOADED: Final = 0.015
_PAGE: Final = Question("/companies", "/companies", (("limit", "7"),))
_PROBE: Final = Request(
    Target(_PAGE, Place.ANSWERED, _PAGE.path, ("limit=7",), noisy=False, faulty=False), fields={KEY: PLAIN_KEY}
)


def play(folder: Path, seed: int, requests: int, *, deadline: float = inf) -> Tally:
    """Play at least so many requests of a seed on fresh services, or until a time of `monotonic`.

    Returns what was mixed. Raises `AssertionError` with the seed, such as `Violation`.
    """
    try:
        editions = write_editions(folder / "data", seed)
        with _services(folder, editions, checker := Checker()) as services:
            return _Player(seed, services, editions, checker).play(requests, deadline)
    except AssertionError as error:
        error.add_note(f"seed {seed}; to repeat it: make fuzz ARGS='--seed {seed} composition'")
        raise


@contextmanager
def _services(folder: Path, editions: Sequence[Edition], checker: Checker) -> Iterator[Sequence[Service]]:
    keys = write_keys(folder / "keys.json")
    with ExitStack() as stack:
        services = []
        for terms in SERVICES:
            link = folder / f"data of {terms.name}"
            link.symlink_to(editions[0].baked if terms.baked else editions[0].folder)
            arguments = terms.arguments(link, keys)
            running = stack.enter_context(serving(*arguments, "--cache", folder / "cache", log=folder / terms.name))
            services.append(Service(terms, running, link, editions[0], checker))
            stack.callback(services[-1].close)
        yield services


class _Player:
    def __init__(self, seed: int, services: Sequence[Service], editions: Sequence[Edition], checker: Checker) -> None:
        self._chance, self._services, self._editions = Chance(seed), services, editions
        known = [self._chance.one(edition.companies) for edition in editions]
        questions = Questions(self._chance, [*dict.fromkeys(known), "nobody"], lists=_LISTS)
        self._seen = Seen(questions, editions, checker.ledger)
        self._sent = 0

    def play(self, requests: int, deadline: float) -> Tally:
        """Ask waves of requests until there are enough; return what was mixed."""
        while self._sent < requests and monotonic() < deadline:
            self._wave([service for service in self._services if self._chance.happens(_RELOADED)])
        for service in self._services:
            service.allowance.check()
        return Tally(sum((service.tally for service in self._services), Counter()))

    def _wave(self, reloaded: Sequence[Service]) -> None:
        """Ask all services at once; let some of them turn to other data before their answers are read."""
        for service in reloaded:
            service.settle(self._probe)
        asked = [(service, *asking) for service in self._services for asking in self._asking(service)]
        for _, connection, batch in asked:
            connection.send(batch)
        for service in reloaded:
            service.reload(self._chance.one(self._editions))
        for service, connection, batch in asked:
            for sent in batch:
                service.receive(connection, sent)
            service.tally["pipelined"] += len(batch) - 1
            if batch[-1].closes:
                assert connection.ends(), f"the connection stays open after {batch[-1]}"
                service.forget(connection)

    def _asking(self, service: Service) -> Iterator[tuple[Connection, list[Sent]]]:
        """Yield connections of a service, and what to send on each; now and then one of its own."""
        for connection in service.lasting:
            yield connection, self._batch(service)
        if self._chance.happens(_PASSING):
            yield service.connect(), self._batch(service, closes=True)

    def _batch(self, service: Service, *, closes: bool = False) -> list[Sent]:
        count = self._chance.weighed(_BATCHES)
        drawn = [draw(self._chance, self._seen) for _ in range(count)]
        return [self._send(service, each, closes=closes and each is drawn[-1]) for each in drawn]

    def _send(self, service: Service, request: Request, *, closes: bool = False) -> Sent:
        self._sent += 1
        return Sent(self._sent, service.terms.name, request, closes)

    def _probe(self, service: Service, connection: Connection) -> None:
        sent = self._send(service, _PROBE)
        connection.send([sent])
        service.receive(connection, sent)

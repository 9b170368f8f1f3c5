"""A running service that is asked, and whose data is replaced meanwhile."""

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.composition.allowance import Allowance
from tests.composition.checker import Checker
from tests.composition.connection import Connection
from tests.composition.editions import Edition
from tests.composition.request import Sent
from tests.composition.tally import Tally
from tests.composition.terms import Terms
from tests.program import Running, eventually
from tests.run.asking import one_of_each_worker
from tests.run.generations import turn
from tests.web.reply import Reply

# Asks the service something on a connection.
Ask = Callable[["Service", Connection], object]


class Service:
    """A service with a lasting connection to each of its workers.

    published  the data sets that were published, one after the other
    places     where among them the last answer on a connection was: that of a worker only moves forward
    settled    the place that every worker has reached
    allowance  what the narrow key was allowed
    """

    def __init__(self, terms: Terms, running: Running, link: Path, edition: Edition, checker: Checker) -> None:
        self.terms, self._running, self._link, self._checker = terms, running, link, checker
        self._published = [edition]
        self._places: dict[Connection, int] = {}
        self._settled = 0
        self.tally, self.allowance = Tally(), Allowance(terms.workers)
        self.lasting = [self.connect()] if terms.workers == 1 else one_of_each_worker(running, self._connect_and_wait)

    def connect(self) -> Connection:
        """Open another connection, to one of the workers."""
        connection = Connection(self._running.address)
        self._places[connection] = self._settled
        return connection

    def _connect_and_wait(self) -> Connection:
        connection = self.connect()
        connection.wait()
        return connection

    def forget(self, connection: Connection) -> None:
        """Close a connection."""
        del self._places[connection]
        connection.close()

    def receive(self, connection: Connection, sent: Sent) -> Reply:
        """Read and check the answer to the next request on a connection. Raises `Violation`."""
        reply = connection.receive(sent)
        place = self._places[connection]
        edition = self._checker.check(sent, reply, self._published[place:], self.terms)
        self._places[connection] = place = self._published.index(edition, place)
        self.allowance.note(sent, reply)
        self.tally.note(sent, reply, old=place < len(self._published) - 1)
        return reply

    def reload(self, edition: Edition) -> None:
        """Let the service turn to another data set, and do not wait for it."""
        if edition is not self._published[-1]:
            self._published.append(edition)
        turn(self._link, edition.baked if self.terms.baked else edition.folder)
        self._running.process.send_signal(signal.SIGHUP)
        self.tally["reloads"] += 1

    def settle(self, ask: Ask) -> None:
        """Ask on the lasting connections until each worker serves what was published last."""
        for connection in self.lasting:
            try:
                eventually(partial(self._has_turned, connection, ask))
            except AssertionError as error:
                last = self._published[-1]
                error.add_note(f"{self.terms.name}: version {last.version} of {last.modified} is published, not served")
                raise
        self._settled = len(self._published) - 1

    def _has_turned(self, connection: Connection, ask: Ask) -> bool:
        ask(self, connection)
        return self._places[connection] == len(self._published) - 1

    def close(self) -> None:
        """Close all connections."""
        for connection in [*self._places]:
            self.forget(connection)

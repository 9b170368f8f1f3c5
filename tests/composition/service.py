"""A running service: connections to it, replies from it, reloads of its data."""

import signal
from datetime import timedelta
from pathlib import Path

import msgspec

from tests.composition.checker import Checker
from tests.composition.configurations import Configuration
from tests.composition.coverage_counters import CoverageCounters
from tests.composition.editions import Edition
from tests.composition.pipeline import Pipeline
from tests.composition.rate_budget import RateBudget
from tests.composition.request import Sent
from tests.program import Running
from tests.run.generations import swap_link
from tests.run.load_clients import connections_to_all_workers
from tests.web.reply import Reply


class Service:
    """A service with one persistent connection to each of its workers.

    loaded      the data set that was published last; `latest` is the latest time of any
    _published  the data sets published so far that replies tell apart, in order
    _places     for each connection the index among them of its last reply; a worker only ever moves forward
    _reached    the index that every worker has reached
    """

    def __init__(self, config: Configuration, running: Running, link: Path, edition: Edition, checker: Checker) -> None:
        self.config, self._running, self._link, self._checker = config, running, link, checker
        self._published, self.loaded, self.latest = [edition], edition, edition.generated_at
        self._places: dict[Pipeline, int] = {}
        self._reached = 0
        self.counters, self.budget = CoverageCounters(), RateBudget(config.workers)
        self.persistent = (
            [self.connect()] if config.workers == 1 else connections_to_all_workers(running, self._connected)
        )

    def __str__(self) -> str:
        """Return what it should serve by now and what it logged last, for a message."""
        last = self._published[-1]
        logged = "\n".join(self._running.logged()[-3:])
        return f"{self.config.name}, version {last.version}, modified {last.modified}; its log ends with\n{logged}"

    def connect(self) -> Pipeline:
        """Open another connection, to any of the workers."""
        connection = Pipeline(self._running.address)
        self._places[connection] = self._reached
        return connection

    def _connected(self) -> Pipeline:
        connection = self.connect()
        connection.wait()
        return connection

    def forget(self, connection: Pipeline) -> None:
        """Close a connection."""
        del self._places[connection]
        connection.close()

    def receive(self, connection: Pipeline, sent: Sent) -> Reply:
        """Read and check the reply to the next request on a connection. Raises `Violation`."""
        reply = connection.receive(sent)
        place = self._places[connection]
        edition = self._checker.check(sent, reply, self._published[place:], self.config)
        self._places[connection] = place = self._published.index(edition, place)
        self.budget.note(sent, reply)
        self.counters.note(sent, reply, old=place < len(self._published) - 1)
        return reply

    def reload(self, edition: Edition) -> None:
        """Replace the data by another data set and trigger a reload; do not wait for it."""
        self._publish(edition)
        swap_link(self._link, edition.baked if self.config.baked else edition.folder)
        self._running.process.send_signal(signal.SIGHUP)
        self.counters["reloads"] += 1

    def _publish(self, edition: Edition) -> None:
        """Append a data set if replies tell it from the last; it has a Last-Modified if that cannot mislead."""
        last, when, latest = self._published[-1], edition.generated_at, self.latest
        if (edition.version, when) == (self.loaded.version, self.loaded.generated_at):
            return
        self.loaded = edition
        misleads = when is not None and latest is not None and when - latest < timedelta(seconds=1)
        published = msgspec.structs.replace(edition, modified=None) if misleads else edition
        self.latest = max((each for each in (when, latest) if each is not None), default=None)
        if (published.version, published.modified) != (last.version, last.modified):
            self._published.append(published)

    def has_reloaded(self) -> bool:
        """Return whether each worker has replied from the data set that was published last."""
        last = len(self._published) - 1
        if any(self._places[connection] < last for connection in self.persistent):
            return False
        self._reached = last
        return True

    def close(self) -> None:
        """Close all connections."""
        for connection in [*self._places]:
            self.forget(connection)

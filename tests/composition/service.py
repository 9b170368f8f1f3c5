"""A running service: connections to it, replies from it, reloads of its data."""

import signal
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from tests.composition.checker import Checker
from tests.composition.configurations import Configuration
from tests.composition.coverage_counters import CoverageCounters, RateBudget
from tests.composition.editions import Described, Edition
from tests.composition.request import Pipeline, Sent
from tests.declared_attributes import PREFIX
from tests.program import Running
from tests.run.generations import swap_link
from tests.run.load_clients import connections_to_all_workers
from tests.web.reply import Reply


def _described(document: Mapping[str, Any]) -> Described:
    """Return the names of attributes in an OpenAPI document, with the labels of members."""
    parameters = [each["name"] for each in document["paths"]["/stores"]["get"]["parameters"]]
    schemas = [document["components"]["schemas"].get(name, {}) for name in ("StoreAttributes", "CompanyAttributes")]
    members = [
        [name + schema.get("x-label", "") for name, schema in each.get("properties", {}).items()] for each in schemas
    ]
    return [[name for name in parameters if name.startswith(PREFIX)], *members]


class Service:
    """A service with one persistent connection to each of its workers, or two to its only one.

    loaded      the data set that was published last; `latest` is the latest time of any
    _published  the data sets published so far that replies tell apart, in order
    _places     for each connection the index among them of its last reply; a worker only ever moves forward
    _reached    the index that every worker has reached
    _documents  what each OpenAPI document, by its tag, names of attributes; `_last_document` is the last tag
    """

    def __init__(self, config: Configuration, running: Running, link: Path, edition: Edition, checker: Checker) -> None:
        self.config, self._running, self._link, self._checker = config, running, link, checker
        self._published, self.loaded, self.latest = [edition], edition, edition.generated_at
        self._places: dict[Pipeline, int] = {}
        self._reached = 0
        self._documents: dict[str, Described] = {}
        self._last_document = ""
        self.counters, self.budget = CoverageCounters(), RateBudget(config.workers)
        self.persistent = (
            [self.connect(), self.connect()]
            if config.workers == 1
            else connections_to_all_workers(running, self._connected)
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

    def check_document(self, connection: Pipeline) -> None:
        """Check that /openapi.json has the attributes of the data set that it names, and is only then not modified."""
        reply = connection.document(tag for tag in self._documents if tag != self._last_document)
        self._last_document = reply.etag
        versions = {edition.version: edition for edition in self._published[self._places[connection] :]}
        wanted = versions[reply.headers["X-Dataset-Version"]].described
        if reply.status == 200:
            self._documents[reply.etag] = _described(reply.json())
        assert self._documents[reply.etag] == wanted, f"/openapi.json: {reply}, expected {wanted} of {self}"
        self.counters[f"documents {reply.status}"] += 1

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

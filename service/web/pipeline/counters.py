"""Metrics of a worker: requests, events, connections and keys; and of its process."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from http import HTTPStatus
from itertools import accumulate, groupby, product
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from service.publishing.worker_slots import WorkerSlot

# Help texts of the counters, by their names without `store_directory_`.
HELP_TEXTS: Final = {
    "http_connections": "Connections accepted, refused and timed out.",
    "response_cache": "Hits and misses of the cache of responses.",
    "rate_limit": "Requests allowed and refused by a rate limit, and failures of the rate store.",
    "access_log_dropped_lines": "Access log lines dropped because the queue was full.",
}


class Event(Enum):
    """An event: the name of its counter, and the `result` label, "" if the counter has none."""

    ACCEPTED = ("http_connections", "accepted")
    REFUSED = ("http_connections", "refused")
    HEAD_TIMEOUT = ("http_connections", "head_timeout")
    IDLE_TIMEOUT = ("http_connections", "idle_timeout")
    WRITE_TIMEOUT = ("http_connections", "write_timeout")
    MEMORY_LIMIT = ("http_connections", "memory_limit")
    ANSWER_HIT = ("response_cache", "hit")
    ANSWER_MISS = ("response_cache", "miss")
    RATE_ALLOWED = ("rate_limit", "allowed")
    RATE_REFUSED = ("rate_limit", "refused")
    CLIENT_REFUSED = ("rate_limit", "client_refused")
    RATE_STORE_FAILED = ("rate_limit", "store_failed")
    LINE_DROPPED = ("access_log_dropped_lines", "")

    __hash__ = object.__hash__  # each member is one object; the hash of its name is computed in Python

    def __init__(self, counter: str, result: str) -> None:
        self.counter, self.result = counter, result


# A client may send any token as a method: nonstandard ones share the last label.
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")
_OTHER: Final = "other"
_METHOD_LABELS: Final = (*METHODS, _OTHER)
# The label of requests without a route.
UNMATCHED: Final = "unmatched"
# The status of a request that was cancelled before its response was made, as nginx has it: the client has left.
ABANDONED: Final = 499
_STATUSES: Final = (*(status.value for status in HTTPStatus), ABANDONED)
# The class of a status, as a label: of informational ones there are none.
_CLASSES: Final = ("2xx", "3xx", "4xx", "5xx")
_BUCKETS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0),
)
_BOUNDS: Final = tuple(round(seconds * 1e9) for seconds in _BUCKETS)  # in nanoseconds
_WIDTH_OF_CLASS: Final = len(_BUCKETS) + 1
_NANOSECONDS: Final = 1e9


class Counters(Collector):
    """Counts in plain integers, without locks and without looking up labels for each request.

    They are an array of int64 in the worker's slot, which counts open connections and requests in flight, too. All
    workers use the same layout, so each can sum those of all:

        requests   by method, route and status
        buckets    by route, class of the status and bucket of the duration, the last without a bound
        durations  sum by route and class, in nanoseconds
        bytes      of bodies, by route
        empty      searches that found nothing, by route
        events     by event
    """

    def __init__(self, routes: Sequence[str], slot: WorkerSlot) -> None:
        """Count the requests to these routes."""
        self._routes = routes
        self._counts, self.slot = slot.counts, slot
        per_method = len(routes) * len(_STATUSES)
        self._of_method = {method: index * per_method for index, method in enumerate(_METHOD_LABELS)}
        self._requests, width = len(_METHOD_LABELS) * per_method, len(_CLASSES) * _WIDTH_OF_CLASS
        durations = self._requests + len(routes) * width
        self._bytes = durations + len(routes) * len(_CLASSES)
        # Of each route and status, where its requests are among those of a method, its buckets, duration and bytes.
        self._of_route = {
            route: {
                status: (
                    index * len(_STATUSES) + number,
                    self._requests + index * width + of_class * _WIDTH_OF_CLASS,
                    durations + index * len(_CLASSES) + of_class,
                    self._bytes + index,
                )
                for number, status in enumerate(_STATUSES)
                for of_class in (status // 100 - 2,)
            }
            for index, route in enumerate(routes)
        }
        self._empty = self._bytes + len(routes)
        events = self._empty + len(routes)
        self._events = {event: events + index for index, event in enumerate(Event)}
        self.length = events + len(Event)

    def observe(self, method: str, route: str, status: int, nanoseconds: int | None, length: int) -> None:
        """Count a request, the bytes of the body that was sent, and the duration, if that is known."""
        counts, of_method = self._counts, self._of_method
        request, buckets, duration, sent = self._of_route[route][status]
        counts[of_method[method if method in of_method else _OTHER] + request] += 1
        counts[sent] += length
        if nanoseconds is not None:
            counts[buckets + bisect_left(_BOUNDS, nanoseconds)] += 1
            counts[duration] += nanoseconds

    def found_nothing(self, route: str) -> None:
        """Count a search that found nothing."""
        self._counts[self._empty + self._routes.index(route)] += 1

    def count(self, event: Event) -> None:
        """Count an event."""
        self._counts[self._events[event]] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the sums of all workers."""
        counts = np.sum([np.frombuffer(each, np.int64, self.length) for each in self.slot.all_counts()], axis=0)
        yield from (self._request_metric(counts), self._duration_metric(counts), *self._event_metrics(counts))
        yield self._by_route("http_response_bytes", "Bytes of the bodies sent, by route.", counts[self._bytes :])
        yield self._by_route("empty_searches", "Searches that found nothing, by route.", counts[self._empty :])
        connections, in_flight = self.slot.open_connections(), self.slot.requests_in_flight()
        yield GaugeMetricFamily("store_directory_http_connections_open", "Open connections.", connections)
        yield GaugeMetricFamily(
            "store_directory_http_requests_in_flight",
            "Requests that wait for a thread or a store of rate limits, or whose file is being sent.",
            in_flight,
        )

    def _request_metric(self, counts: NDArray[Any]) -> Metric:
        requests = CounterMetricFamily(
            "store_directory_http_requests",
            "Requests, by method, route and status.",
            labels=["method", "route", "status"],
        )
        by_labels = counts[: self._requests].reshape(len(_METHOD_LABELS), len(self._routes), len(_STATUSES))
        for method, route, status in np.argwhere(by_labels).tolist():
            labels = _METHOD_LABELS[method], self._routes[route], str(_STATUSES[status])
            requests.add_metric(labels, int(by_labels[method, route, status]))
        return requests

    def _duration_metric(self, counts: NDArray[Any]) -> Metric:
        seconds = HistogramMetricFamily(
            "store_directory_http_request_duration_seconds", "Time to compose a response.", labels=["route", "status"]
        )
        for (route, places), of_class in product(self._of_route.items(), _CLASSES):
            _, first, duration, _ = places[int(of_class[0]) * 100]
            cumulative = list(accumulate(counts[first : first + _WIDTH_OF_CLASS].tolist()))
            if cumulative[-1]:
                buckets = list(zip((*map(str, _BUCKETS), "+Inf"), cumulative, strict=True))
                seconds.add_metric([route, of_class], buckets, int(counts[duration]) / _NANOSECONDS)
        return seconds

    def _by_route(self, name: str, documentation: str, counts: NDArray[Any]) -> Metric:
        family = CounterMetricFamily(f"store_directory_{name}", documentation, labels=["route"])
        for route, number in zip(self._routes, counts[: len(self._routes)].tolist(), strict=True):
            if number:
                family.add_metric([route], number)
        return family

    def _event_metrics(self, counts: NDArray[Any]) -> Iterator[Metric]:
        for name, events in groupby(Event, key=attrgetter("counter")):
            counted = list(events)
            labels = ["result"] if counted[0].result else []
            family = CounterMetricFamily(f"store_directory_{name}", HELP_TEXTS[name], labels=labels)
            for event in counted:
                family.add_metric([event.result][: len(labels)], int(counts[self._events[event]]))
            yield family


# The first 511 keys are counted by name, all others together.
_MAX_KEYS: Final = 511
_OTHERS: Final = "(others)"
_ITEM_BYTES: Final = 8
_NAME_ITEMS: Final = 16
_NAME_BYTES: Final = _NAME_ITEMS * _ITEM_BYTES
_RESULTS: Final = ("answered", "limited")
_WIDTH: Final = _NAME_ITEMS + len(_RESULTS)


class KeyCounters(Collector):
    """Counts requests by the name of their key.

    An array of int64 has an entry for each key: its name, NUL-padded UTF-8, then its counts. A worker that takes over
    the slot of another goes on with the entries it finds there.
    """

    def __init__(self, counts: memoryview, all_counts: Callable[[], Iterable[memoryview]]) -> None:
        """Count in `counts`; `all_counts` returns those of all workers. All are int64."""
        self._counts, self._all_counts = counts, all_counts
        self._offsets = {name: offset for offset, name in _entries(counts) if name != _OTHERS}
        self._others = _MAX_KEYS * _WIDTH
        self._write_name(self._others, _OTHERS)

    def count(self, name: str, *, limited: bool) -> None:
        """Count a request with the key of this name; `limited` if its rate limit refused it."""
        offset = self._offsets.get(name)
        if offset is None:
            offset = self._add(name)
        self._counts[offset + _NAME_ITEMS + limited] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the sums of all workers."""
        total: Counter[tuple[str, str]] = Counter()
        for counts in self._all_counts():
            for offset, name in _entries(counts):
                numbers = counts[offset + _NAME_ITEMS : offset + _WIDTH].tolist()
                total.update({(name, result): number for result, number in zip(_RESULTS, numbers, strict=True)})
        family = CounterMetricFamily(
            "store_directory_key_requests", "Requests by API key and result.", labels=["key", "result"]
        )
        for labels, number in sorted(total.items()):
            if number:
                family.add_metric(labels, number)
        yield family

    def _add(self, name: str) -> int:
        """Add an entry, and return its offset; that of the others if all entries are taken."""
        offset = len(self._offsets) * _WIDTH
        if offset >= self._others:
            return self._others
        self._write_name(offset, name)
        self._offsets[name] = offset
        return offset

    def _write_name(self, offset: int, name: str) -> None:
        """Write a name, truncated between two characters if it is too long."""
        truncated = name.encode()[:_NAME_BYTES].decode("utf-8", "ignore").encode()
        self._counts[offset : offset + _NAME_ITEMS] = memoryview(truncated.ljust(_NAME_BYTES, b"\0")).cast("q")


def _entries(counts: memoryview) -> Iterator[tuple[int, str]]:
    """Yield the offset and the name of each entry."""
    for offset in range(0, (_MAX_KEYS + 1) * _WIDTH, _WIDTH):
        if counts[offset]:
            yield offset, counts[offset : offset + _NAME_ITEMS].tobytes().rstrip(b"\0").decode("utf-8", "replace")


_LABEL: Final = "process"


class ProcessMetrics(Collector):
    """The standard metrics of each process of a run, whichever worker is asked, from /proc.

    With several, the label `process` is `parent` or the number of the worker, which its successor has, too.
    """

    def __init__(self, slot: WorkerSlot) -> None:
        self._slot = slot

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of the processes that are alive; none where there is no /proc."""
        families = dict[str, Metric]()
        for name, pid in self._slot.processes().items():
            labels = {} if self._slot.alone else {_LABEL: name}
            for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                family = families.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
                for sample in metric.samples:
                    family.add_sample(sample.name, labels, sample.value)
        return families.values()

"""Counters of requests, events and connections."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from service.snapshot.worker_slots import WorkerSlot
from service.web.telemetry.events import HELP_TEXTS, Event

# A client may send any token as a method: nonstandard ones share the last label.
_OTHER: Final = "other"
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", _OTHER)
# The label of requests without a route.
UNMATCHED: Final = "unmatched"
# The status of a request that was cancelled before its response was made, as nginx has it: the client has left.
ABANDONED: Final = 499
_STATUSES: Final = (*(status.value for status in HTTPStatus), ABANDONED)
_STATUS_INDEX: Final = {status: index for index, status in enumerate(_STATUSES)}
_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_NANOSECONDS: Final = 1e9


class Counters(Collector):
    """Counts in plain integers, without locks and without looking up labels for each request.

    They are an array of int64 in the worker's slot. All workers use the same layout, so each can sum those of all:

        requests   by method, route and status
        buckets    by route and bucket of the duration, the last without a bound
        durations  sum by route, in nanoseconds
        events     by event
    """

    def __init__(self, routes: Sequence[str], slot: WorkerSlot) -> None:
        """Count the requests to these routes."""
        self._routes = routes
        self._counts, self._slot = slot.counts, slot
        per_method = len(routes) * len(_STATUSES)
        self._of_method = {method: index * per_method for index, method in enumerate(_METHODS)}
        self._requests, width = len(_METHODS) * per_method, len(_BUCKETS) + 1
        durations = self._requests + len(routes) * width
        # Of each route, where its requests begin among those of a method, its buckets, and where its duration is.
        self._of_route = {
            route: (index * len(_STATUSES), self._requests + index * width, durations + index)
            for index, route in enumerate(routes)
        }
        events = durations + len(routes)
        self._events = {event: events + index for index, event in enumerate(Event)}
        self.length = events + len(Event)

    def observe(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request and its duration, if that is known."""
        counts, of_method = self._counts, self._of_method
        requests, buckets, duration = self._of_route[route]
        counts[of_method[method if method in of_method else _OTHER] + requests + _STATUS_INDEX[status]] += 1
        if seconds is None:
            return
        counts[buckets + bisect_left(_BUCKETS, seconds)] += 1
        counts[duration] += int(seconds * _NANOSECONDS)

    def count(self, event: Event) -> None:
        """Count an event."""
        self._counts[self._events[event]] += 1

    def opened(self) -> None:
        """Count a connection as open."""
        self._slot.count_connection(1)

    def closed(self) -> None:
        """Count a connection as no longer open."""
        self._slot.count_connection(-1)

    def collect(self) -> Iterator[Metric]:
        """Yield the sums of all workers."""
        counts = self._sum()
        yield from (self._request_metric(counts), self._duration_metric(counts), *self._event_metrics(counts))
        connections = self._slot.open_connections()
        yield GaugeMetricFamily("store_directory_http_connections_open", "Open connections.", connections)

    def _request_metric(self, counts: NDArray[Any]) -> Metric:
        requests = CounterMetricFamily(
            "store_directory_http_requests",
            "Requests, by method, route and status.",
            labels=["method", "route", "status"],
        )
        by_labels = counts[: self._requests].reshape(len(_METHODS), len(self._routes), len(_STATUSES))
        for method, route, status in np.argwhere(by_labels).tolist():
            labels = _METHODS[method], self._routes[route], str(_STATUSES[status])
            requests.add_metric(labels, int(by_labels[method, route, status]))
        return requests

    def _duration_metric(self, counts: NDArray[Any]) -> Metric:
        seconds = HistogramMetricFamily(
            "store_directory_http_request_duration_seconds", "Time to compose a response.", labels=["route"]
        )
        for route in self._routes:
            _, start, duration = self._of_route[route]
            cumulative = list(accumulate(counts[start : start + len(_BUCKETS) + 1].tolist()))
            if cumulative[-1]:
                buckets = list(zip((*map(str, _BUCKETS), "+Inf"), cumulative, strict=True))
                seconds.add_metric([route], buckets, int(counts[duration]) / _NANOSECONDS)
        return seconds

    def _event_metrics(self, counts: NDArray[Any]) -> Iterator[Metric]:
        for name, events in groupby(Event, key=attrgetter("counter")):
            counted = list(events)
            labels = ["result"] if counted[0].result else []
            family = CounterMetricFamily(f"store_directory_{name}", HELP_TEXTS[name], labels=labels)
            for event in counted:
                family.add_metric([event.result][: len(labels)], int(counts[self._events[event]]))
            yield family

    def _sum(self) -> NDArray[Any]:
        total = np.zeros(self.length, np.int64)
        for counts in self._slot.all_counts():
            total += np.frombuffer(counts, np.int64, self.length)
        return total

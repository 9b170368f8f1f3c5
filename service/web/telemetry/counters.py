"""What was answered, in numbers."""

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
from service.web.telemetry.events import MEANINGS, Event

# A client may write any token as a method: those beyond the standard's share the last label.
_OTHER: Final = "other"
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", _OTHER)
# The route of what no route answers.
UNMATCHED: Final = "unmatched"
_STATUSES: Final = tuple(status.value for status in HTTPStatus)
_PLACES: Final = {status: place for place, status in enumerate(_STATUSES)}
_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_NANOSECONDS: Final = 1e9


class Counters(Collector):
    """What was answered, counted in plain numbers: a request pays for no lock and no search for a label.

    The numbers lie in a row of int64 which all workers lay out alike, so that any of them can add up those of all:

        requests   by method, route and status
        within     by route, of each bucket of durations and beyond them
        took       by route, nanoseconds
        events     of each kind
    """

    def __init__(self, routes: Sequence[str], slot: WorkerSlot) -> None:
        """Count the answers of some routes."""
        self._routes = routes
        self._counts, self._slot = slot.counts, slot
        per_method = len(routes) * len(_STATUSES)
        self._of_method = {method: place * per_method for place, method in enumerate(_METHODS)}
        self._of_route = {route: place * len(_STATUSES) for place, route in enumerate(routes)}
        self._requests, width = len(_METHODS) * per_method, len(_BUCKETS) + 1
        self._within = {route: self._requests + place * width for place, route in enumerate(routes)}
        self._took = {route: self._requests + len(routes) * width + place for place, route in enumerate(routes)}
        events = self._requests + len(routes) * (width + 1)
        self._events = {event: events + place for place, event in enumerate(Event)}
        self.length = events + len(Event)

    def observe(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count an answered request, which took so long, if that is known."""
        counts = self._counts
        of_method = self._of_method.get(method, self._of_method[_OTHER])
        counts[of_method + self._of_route[route] + _PLACES[status]] += 1
        if seconds is None:
            return
        counts[self._within[route] + bisect_left(_BUCKETS, seconds)] += 1
        counts[self._took[route]] += int(seconds * _NANOSECONDS)

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
        """Tell what all workers counted."""
        counts = self._sum()
        yield from (self._requested(counts), self._timed(counts), *self._happened(counts))
        connections = self._slot.open_connections()
        yield GaugeMetricFamily("store_directory_http_connections_open", "Connections now.", connections)

    def _requested(self, counts: NDArray[Any]) -> Metric:
        requests = CounterMetricFamily(
            "store_directory_http_requests", "Requests answered.", labels=["method", "route", "status"]
        )
        by_labels = counts[: self._requests].reshape(len(_METHODS), len(self._routes), len(_STATUSES))
        for method, route, status in np.argwhere(by_labels).tolist():
            labels = _METHODS[method], self._routes[route], str(_STATUSES[status])
            requests.add_metric(labels, int(by_labels[method, route, status]))
        return requests

    def _timed(self, counts: NDArray[Any]) -> Metric:
        seconds = HistogramMetricFamily(
            "store_directory_http_request_duration_seconds", "Time to compose an answer.", labels=["route"]
        )
        for route in self._routes:
            start = self._within[route]
            within = list(accumulate(counts[start : start + len(_BUCKETS) + 1].tolist()))
            if within[-1]:
                named = list(zip((*map(str, _BUCKETS), "+Inf"), within, strict=True))
                seconds.add_metric([route], named, int(counts[self._took[route]]) / _NANOSECONDS)
        return seconds

    def _happened(self, counts: NDArray[Any]) -> Iterator[Metric]:
        for name, events in groupby(Event, key=attrgetter("counter")):
            kinds = list(events)
            labels = ["result"] if kinds[0].result else []
            family = CounterMetricFamily(f"store_directory_{name}", MEANINGS[name], labels=labels)
            for event in kinds:
                family.add_metric([event.result][: len(labels)], int(counts[self._events[event]]))
            yield family

    def _sum(self) -> NDArray[Any]:
        total = np.zeros(self.length, np.int64)
        for counts in self._slot.all_counts():
            total += np.frombuffer(counts, np.int64, self.length)
        return total

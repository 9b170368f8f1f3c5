"""What is counted, in Prometheus' text format."""

from collections.abc import Callable
from functools import cache
from time import time
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from service.replica import Replica, Snapshot
from service.web.answer import Answer
from service.web.routes import Route

# A client may write any token as a method: those beyond the standard's share one label.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"})
_BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """The metrics of one service, in a registry of their own."""

    def __init__(self, replica: Replica) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # each would stand beside a time of no use
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._replica = replica
        self._gauge("stores", "Stores served.", lambda current: len(current.dataset.stores))
        self._gauge("companies", "Companies served.", lambda current: len(current.dataset.companies))
        self._gauge("skipped_records", "Records at fault that are not served.", lambda current: current.skipped)
        self._gauge("dataset_age_seconds", "Age of the data.", lambda current: time() - current.dated.timestamp())
        reload_success = Gauge(
            "store_directory_reload_success", "Whether the last load succeeded.", registry=self._registry
        )
        reload_success.set_function(lambda: float(replica.last_reload is not None and replica.last_reload.ok))
        self._requests, self._seconds = self._count(), self._time()

    def _gauge(self, name: str, meaning: str, read: Callable[[Snapshot], float]) -> None:
        gauge = Gauge(f"store_directory_{name}", meaning, registry=self._registry)
        gauge.set_function(lambda: float("nan") if self._replica.current is None else read(self._replica.current))

    def _count(self) -> Callable[[str, str, int], Counter]:
        requests = Counter(
            "store_directory_http_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        return cache(requests.labels)

    def _time(self) -> Callable[[str], Histogram]:
        seconds = Histogram(
            "store_directory_http_request_duration_seconds",
            "Time to compose an answer.",
            ["route"],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        return cache(seconds.labels)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests(method if method in _METHODS else "other", route, status).inc()
        self._seconds(route).observe(seconds)

    def route(self) -> Route:
        """Return the route that tells the metrics."""
        return Route("/metrics", lambda _: Answer(generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4))

"""What is counted, in Prometheus' text format."""

from collections.abc import Callable, Iterator
from time import time

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Gauge,
    Metric,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import InfoMetricFamily
from prometheus_client.registry import Collector

from service.replica import Replica, Snapshot
from service.web.answer import Answer
from service.web.routes import Route
from service.web.traffic import Traffic


class _Version(Collector):
    """The version of the data, as a label."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def collect(self) -> Iterator[Metric]:
        """Tell the version, where there is one."""
        version = InfoMetricFamily("store_directory_dataset", "The version of the data.")
        if self._replica.current is not None:
            version.add_metric([], {"version": self._replica.current.dataset.version})
        return iter((version,))


class Metrics:
    """The metrics of one service, in a registry of their own."""

    def __init__(self, replica: Replica) -> None:
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
        self._registry.register(_Version(replica))
        traffic = Traffic()
        self._registry.register(traffic)
        self.observe = traffic.observe

    def _gauge(self, name: str, meaning: str, read: Callable[[Snapshot], float]) -> None:
        gauge = Gauge(f"store_directory_{name}", meaning, registry=self._registry)
        gauge.set_function(lambda: float("nan") if self._replica.current is None else read(self._replica.current))

    def route(self) -> Route:
        """Return the route that tells the metrics."""
        return Route("/metrics", lambda _: Answer((generate_latest(self._registry),), CONTENT_TYPE_PLAIN_0_0_4))

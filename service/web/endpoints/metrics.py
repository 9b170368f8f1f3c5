"""What is measured, in Prometheus' text format."""

from collections.abc import Callable, Iterator
from datetime import datetime
from time import time
from typing import Final

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

from service.snapshot.snapshot import Snapshot, SnapshotHolder
from service.web.answer import NO_STORE, Answer
from service.web.routes import Route

METRICS_PATH: Final = "/metrics"
_UNKNOWN: Final = float("nan")


class _Version(Collector):
    """The version of the data, as a label."""

    def __init__(self, replica: SnapshotHolder) -> None:
        self._replica = replica

    def collect(self) -> Iterator[Metric]:
        """Tell the version, where there is one."""
        version = InfoMetricFamily("store_directory_dataset", "The version of the data.")
        if self._replica.current is not None:
            version.add_metric([], {"version": self._replica.current.dataset.version})
        return iter((version,))


def metrics_route(replica: SnapshotHolder, *counted: Collector, keys_sound: Callable[[], bool] | None = None) -> Route:
    """Return the route that tells the metrics: of the data as this worker serves it, and what all workers counted.

    `keys_sound` tells whether this worker could read the key file, where there is one.
    """
    registry = CollectorRegistry()
    PlatformCollector(registry=registry)
    if replica.slot.alone:  # else they would be those of whichever worker is asked
        ProcessCollector(registry=registry)

    def gauge(name: str, meaning: str, read: Callable[[], float]) -> None:
        Gauge(f"store_directory_{name}", meaning, registry=registry).set_function(read)

    def of_data(name: str, meaning: str, read: Callable[[Snapshot], float]) -> None:
        gauge(name, meaning, lambda: _UNKNOWN if replica.current is None else read(replica.current))

    of_data("stores", "Stores served.", lambda current: len(current.dataset.stores))
    of_data("companies", "Companies served.", lambda current: len(current.dataset.companies))
    of_data("skipped_records", "Records at fault that are not served.", lambda current: current.skipped)
    of_data("dataset_generation", "How manieth data set of this run is served.", lambda current: current.generation)
    of_data("dataset_timestamp_seconds", "Time of the data.", lambda current: current.dated.timestamp())
    of_data("dataset_age_seconds", "Age of the data.", lambda current: time() - current.dated.timestamp())
    gauge(
        "confirmed_timestamp_seconds", "When the source last held what is served.", lambda: _stamp(replica.confirmed_at)
    )
    gauge(
        "reload_timestamp_seconds",
        "When the last load was tried.",
        lambda: _stamp(replica.last_reload.at if replica.last_reload else None),
    )
    gauge(
        "reload_success",
        "Whether the last load succeeded.",
        lambda: float(replica.last_reload is not None and replica.last_reload.ok),
    )
    if keys_sound is not None:
        gauge("key_file_success", "Whether the last reading of the key file succeeded.", keys_sound)
    gauge("workers", "Processes that answer.", lambda: len(replica.slot.living()))
    registry.register(_Version(replica))
    for each in counted:
        registry.register(each)
    return Route(
        METRICS_PATH, lambda _: Answer((generate_latest(registry),), CONTENT_TYPE_PLAIN_0_0_4, headers=NO_STORE)
    )


def _stamp(moment: datetime | None) -> float:
    return _UNKNOWN if moment is None else moment.timestamp()

"""/metrics: the metrics of the service, in Prometheus' text format."""

from collections.abc import Callable, Iterator
from datetime import datetime
from time import time
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Gauge,
    Info,
    Metric,
    PlatformCollector,
    generate_latest,
)
from prometheus_client.core import InfoMetricFamily
from prometheus_client.registry import Collector

from service import __version__
from service.baking.baked_file import FORMAT
from service.snapshot.snapshot import Snapshot, SnapshotHolder
from service.web.answers.answer import Answer
from service.web.headers.header_lines import NO_STORE
from service.web.pipeline.routes import AnswerRoute
from service.web.telemetry.process_metrics import ProcessMetrics

METRICS_PATH: Final = "/metrics"
_UNKNOWN: Final = float("nan")


class _Version(Collector):
    """The version of the data, as the label of an info metric."""

    def __init__(self, snapshots: SnapshotHolder) -> None:
        self._snapshots = snapshots

    def collect(self) -> Iterator[Metric]:
        """Yield the version, if there is data."""
        version = InfoMetricFamily("store_directory_dataset", "Version of the served data.")
        if self._snapshots.current is not None:
            version.add_metric([], {"version": self._snapshots.current.dataset.version})
        return iter((version,))


def metrics_route(
    snapshots: SnapshotHolder, *collectors: Collector, key_file_ok: Callable[[], bool] | None = None
) -> AnswerRoute:
    """Return the route of the metrics: of the data that this worker serves, and the collectors of all workers.

    `key_file_ok` returns whether this worker could read the key file; None if there is none.
    """
    registry = CollectorRegistry()
    PlatformCollector(registry=registry)
    registry.register(ProcessMetrics(snapshots.slot))

    def gauge(name: str, help_text: str, value: Callable[[], float]) -> None:
        Gauge(f"store_directory_{name}", help_text, registry=registry).set_function(value)

    def data_gauge(name: str, help_text: str, value: Callable[[Snapshot], float]) -> None:
        gauge(name, help_text, lambda: _UNKNOWN if snapshots.current is None else value(snapshots.current))

    data_gauge("stores", "Stores served.", lambda current: len(current.dataset.stores))
    data_gauge("companies", "Companies served.", lambda current: len(current.dataset.companies))
    data_gauge(
        "skipped_records", "Invalid records, which are not served.", lambda current: current.dataset.totals.skipped
    )
    data_gauge(
        "dataset_generation", "Number of data sets served since the run started.", lambda current: current.generation
    )
    data_gauge("dataset_timestamp_seconds", "When the data was generated.", lambda current: current.dated.timestamp())
    data_gauge("dataset_age_seconds", "Age of the data.", lambda current: time() - current.dated.timestamp())
    gauge(
        "confirmed_timestamp_seconds",
        "When the source was last known to hold the served data.",
        lambda: _timestamp(snapshots.confirmed_at),
    )
    gauge(
        "reload_timestamp_seconds",
        "When the last reload was attempted.",
        lambda: _timestamp(snapshots.last_reload.at if snapshots.last_reload else None),
    )
    gauge(
        "reload_success",
        "1 if the last reload succeeded, else 0.",
        lambda: float(snapshots.last_reload is not None and snapshots.last_reload.ok),
    )
    if key_file_ok is not None:
        gauge("key_file_success", "1 if the key file was last read successfully, else 0.", key_file_ok)
    gauge("workers", "Running worker processes.", lambda: len(snapshots.slot.living()))
    registry.register(_Version(snapshots))
    build = Info(
        "store_directory_build", "Version of the program, format of baked files that it reads.", registry=registry
    )
    build.info({"version": __version__, "format": FORMAT.split()[-1]})
    for collector in collectors:
        registry.register(collector)

    def answer(*_: object) -> Answer:
        return Answer((generate_latest(registry),), CONTENT_TYPE_PLAIN_0_0_4, headers=NO_STORE)

    return AnswerRoute(path=METRICS_PATH, answer=answer)


def _timestamp(moment: datetime | None) -> float:
    return _UNKNOWN if moment is None else moment.timestamp()

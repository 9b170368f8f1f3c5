"""The probes /health (liveness) and /ready (readiness), and /metrics."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from time import time
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
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
from service.model.operation import Operation
from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.publishing.workspace import Moment, Reload
from service.web.http.header_fields import NO_STORE
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.counters import ProcessMetrics
from service.web.pipeline.routes import AnswerRoute

_TAG: Final = "probes"
_NotReady: TypeAlias = Literal["loading", "stale", "draining"]


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: Literal["ok"]


class Unready(msgspec.Struct, frozen=True, kw_only=True):
    """Not ready: a worker has no data yet, the source has been unreachable for too long, or the process is draining.

    Authenticated requests also get the result of the last reload, and when the source was last known to hold the
    served data.
    """

    status: _NotReady
    last_reload: Reload | UnsetType | None = UNSET
    confirmed_at: Moment | UnsetType | None = UNSET


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Ready: the version of the served data, and the numbers of its records and of skipped ones.

    Authenticated requests also get when it was loaded, the result of the last reload, its generation (the first data
    set of the run is 1), when it was generated, its age in seconds, and when the source was last known to hold it.
    """

    status: Literal["ready"]
    version: str
    stores: int
    companies: int
    skipped: int
    loaded_at: Moment | UnsetType = UNSET
    last_reload: Reload | UnsetType | None = UNSET
    generation: int | UnsetType = UNSET
    generated_at: Moment | UnsetType | None = UNSET
    age_seconds: float | UnsetType = UNSET
    confirmed_at: Moment | UnsetType | None = UNSET


def probe_routes(snapshots: SnapshotHolder) -> tuple[AnswerRoute, ...]:
    """Return the routes of the probes."""
    health = Operation(
        path="/health",
        tag=_TAG,
        operation_id="health",
        summary="Check whether the process is alive",
        description="Returns 200 as soon as the process listens.",
        responses={HTTPStatus.OK: (Health,)},
    )
    ready = Operation(
        path="/ready",
        tag=_TAG,
        operation_id="ready",
        summary="Check whether the service can answer requests",
        description="Returns 503 until every worker has loaded the data, then 200 with a description of it; "
        "authenticated requests get more detail. Returns 503 again if the data is stale or the process is draining.",
        responses={HTTPStatus.OK: (Ready,), HTTPStatus.SERVICE_UNAVAILABLE: (Unready,)},
    )
    return (
        AnswerRoute(path=health.path, answer=lambda *_: _probe(Health("ok")), describe=lambda _: health),
        AnswerRoute(path=ready.path, answer=_readiness(snapshots), describe=lambda _: ready),
    )


def _readiness(snapshots: SnapshotHolder) -> Callable[[RequestFields, bool], Answer]:
    def answer(_: RequestFields, authenticated: bool) -> Answer:  # noqa: FBT001 - positional in a route
        current, reason = snapshots.current, _not_ready(snapshots)
        if current is None or reason is not None:
            return _unready(snapshots, reason or "loading", detailed=authenticated)
        ready = Ready(
            status="ready",
            version=current.dataset.version,
            stores=len(current.dataset.stores),
            companies=len(current.dataset.companies),
            skipped=current.dataset.totals.skipped,
        )
        return _probe(_detailed(ready, current, snapshots) if authenticated else ready)

    return answer


def _not_ready(snapshots: SnapshotHolder) -> _NotReady | None:
    if snapshots.loading:
        return "loading"
    if snapshots.draining:
        return "draining"
    return "stale" if snapshots.stale else None


def _unready(snapshots: SnapshotHolder, status: _NotReady, *, detailed: bool) -> Answer:
    body = Unready(status=status)
    if detailed:
        body = msgspec.structs.replace(body, last_reload=snapshots.last_reload, confirmed_at=snapshots.confirmed_at)
    return _probe(body, HTTPStatus.SERVICE_UNAVAILABLE)


def _detailed(ready: Ready, current: Snapshot, snapshots: SnapshotHolder) -> Ready:
    return msgspec.structs.replace(
        ready,
        loaded_at=current.loaded_at,
        last_reload=snapshots.last_reload,
        generation=current.generation,
        generated_at=current.dataset.generated_at,
        age_seconds=round((datetime.now(UTC) - current.dated).total_seconds(), 3),
        confirmed_at=snapshots.confirmed_at,
    )


def _probe(body: msgspec.Struct, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer((msgspec.json.encode(body),), status=status.value, headers=NO_STORE)


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

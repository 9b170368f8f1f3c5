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
    Metric,
    PlatformCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from service import __version__
from service.baking.layout import FORMAT
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
            body = Unready(status=reason or "loading")
            if authenticated:
                last, at = snapshots.last_reload, snapshots.confirmed_at
                body = msgspec.structs.replace(body, last_reload=last, confirmed_at=at)
            return _probe(body, HTTPStatus.SERVICE_UNAVAILABLE)
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
# Of the served data: the name without `store_directory_`, the help text and the value.
_OF_DATA: Final[tuple[tuple[str, str, Callable[[Snapshot], float]], ...]] = (
    ("stores", "Stores served.", lambda current: len(current.dataset.stores)),
    ("companies", "Companies served.", lambda current: len(current.dataset.companies)),
    ("skipped_records", "Invalid records, which are not served.", lambda current: current.dataset.totals.skipped),
    ("dataset_generation", "Number of data sets served since the run started.", lambda current: current.generation),
    ("dataset_timestamp_seconds", "When the data was generated.", lambda current: current.dated.timestamp()),
    ("dataset_age_seconds", "Age of the data.", lambda current: time() - current.dated.timestamp()),
)


def _confirmed(held: SnapshotHolder) -> float:
    return _UNKNOWN if held.confirmed_at is None else held.confirmed_at.timestamp()


def _reloaded(held: SnapshotHolder) -> float:
    return _UNKNOWN if held.last_reload is None else held.last_reload.at.timestamp()


# Of this process, whether it has data or not.
_OF_PROCESS: Final[tuple[tuple[str, str, Callable[[SnapshotHolder], float]], ...]] = (
    ("confirmed_timestamp_seconds", "When the source was last known to hold the served data.", _confirmed),
    (
        "confirmed_age_seconds",
        "How long ago that was, by this machine's clock.",
        lambda held: time() - _confirmed(held),
    ),
    ("reload_timestamp_seconds", "When the last reload was attempted.", _reloaded),
    (
        "reload_success",
        "1 if the last reload succeeded, else 0.",
        lambda held: bool(held.last_reload and held.last_reload.ok),
    ),
    ("workers", "Running worker processes.", lambda held: len(held.slot.living())),
)


class _ServiceMetrics(Collector):
    """The metrics of the data that this worker serves, and of its source and its key file."""

    def __init__(self, snapshots: SnapshotHolder, key_file_ok: Callable[[], bool] | None) -> None:
        self._snapshots, self._key_file_ok = snapshots, key_file_ok

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; without data those of the data are unknown."""
        current = self._snapshots.current
        for name, text, of_data in _OF_DATA:
            yield GaugeMetricFamily(f"store_directory_{name}", text, _UNKNOWN if current is None else of_data(current))
        for name, text, of_process in _OF_PROCESS:
            yield GaugeMetricFamily(f"store_directory_{name}", text, of_process(self._snapshots))
        if self._key_file_ok is not None:
            text = "1 if the key file was last read successfully, else 0."
            yield GaugeMetricFamily("store_directory_key_file_success", text, self._key_file_ok())
        version = InfoMetricFamily("store_directory_dataset", "Version of the served data.")
        if current is not None:
            version.add_metric([], {"version": current.dataset.version})
        yield version
        text, labels = "Version of the program, format of baked files that it reads.", FORMAT.split()[-1]
        yield InfoMetricFamily("store_directory_build", text, {"version": __version__, "format": labels})


def metrics_route(
    snapshots: SnapshotHolder, *collectors: Collector, key_file_ok: Callable[[], bool] | None = None
) -> AnswerRoute:
    """Return the route of the metrics: of the data that this worker serves, and the collectors of all workers.

    `key_file_ok` returns whether this worker could read the key file; None if there is none.
    """
    registry = CollectorRegistry()
    PlatformCollector(registry=registry)
    for collector in (ProcessMetrics(snapshots.slot), _ServiceMetrics(snapshots, key_file_ok), *collectors):
        registry.register(collector)

    def answer(*_: object) -> Answer:
        return Answer((generate_latest(registry),), CONTENT_TYPE_PLAIN_0_0_4, headers=NO_STORE)

    return AnswerRoute(path=METRICS_PATH, answer=answer)

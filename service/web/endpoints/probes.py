"""The probes: /health (liveness) and /ready (readiness)."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from service.model.operation import Operation
from service.snapshot.publication import Moment, Reload
from service.snapshot.snapshot import Snapshot, SnapshotHolder
from service.web.answers.answer import Answer
from service.web.headers.header_lines import NO_STORE
from service.web.pipeline.routes import AnswerRoute
from service.web.requests.request_fields import RequestFields

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
        AnswerRoute(path=health.path, answer=lambda *_: _probe(Health("ok")), operation=health),
        AnswerRoute(path=ready.path, answer=_readiness(snapshots), operation=ready),
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

"""The probes: /health tells that the process is alive, /ready whether it can answer."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from service.model.operation import Operation
from service.snapshot.publication import Moment, Reload
from service.snapshot.snapshot import Snapshot, SnapshotHolder
from service.web.answer import NO_STORE, Answer
from service.web.routes import Call, Route, described

_TAG: Final = "probes"
_Obstacle: TypeAlias = Literal["loading", "stale", "draining"]


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: Literal["ok"]


class Unready(msgspec.Struct, frozen=True, kw_only=True):
    """Others should be asked: a worker has no data yet, its source is out of reach for too long, or the process ends.

    Who has a key is told how the last attempt to load ended, and when the source last held what is served.
    """

    status: _Obstacle
    last_reload: Reload | UnsetType | None = UNSET
    confirmed_at: Moment | UnsetType | None = UNSET


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What is served: the version of the data, how many records, how many were left out.

    Who has a key is told more: when it was loaded, how the last attempt to renew it ended, how manieth data set of the
    run it is, of when it is, its age in seconds, and when the source was last known to hold it.
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


def probe_routes(replica: SnapshotHolder) -> tuple[Route, ...]:
    """Return the routes of the probes."""
    health = Operation(
        path="/health",
        tag=_TAG,
        operation_id="health",
        summary="Tell whether the process is alive",
        description="Answers as soon as the process listens.",
        responses={HTTPStatus.OK: Health},
    )
    ready = Operation(
        path="/ready",
        tag=_TAG,
        operation_id="ready",
        summary="Tell whether requests can be answered",
        description="Answers 503 until every worker has loaded the data, then what is served: in full where a key is "
        "given. 503 again where the data is stale, or the process about to end.",
        responses={HTTPStatus.OK: Ready, HTTPStatus.SERVICE_UNAVAILABLE: Unready},
    )
    return (described(health, lambda _: _probe(Health("ok"))), described(ready, _readiness(replica)))


def _readiness(replica: SnapshotHolder) -> Callable[[Call], Answer]:
    def answer(call: Call) -> Answer:
        current, obstacle = replica.current, _obstacle(replica)
        if current is None or obstacle is not None:
            return _unready(replica, obstacle or "loading", in_full=call.known)
        ready = Ready(
            status="ready",
            version=current.dataset.version,
            stores=len(current.dataset.stores),
            companies=len(current.dataset.companies),
            skipped=current.skipped,
        )
        return _probe(_in_full(ready, current, replica) if call.known else ready)

    return answer


def _obstacle(replica: SnapshotHolder) -> _Obstacle | None:
    if replica.loading:
        return "loading"
    if replica.draining:
        return "draining"
    return "stale" if replica.stale else None


def _unready(replica: SnapshotHolder, status: _Obstacle, *, in_full: bool) -> Answer:
    body = Unready(status=status)
    if in_full:
        body = msgspec.structs.replace(body, last_reload=replica.last_reload, confirmed_at=replica.confirmed_at)
    return _probe(body, HTTPStatus.SERVICE_UNAVAILABLE)


def _in_full(ready: Ready, current: Snapshot, replica: SnapshotHolder) -> Ready:
    return msgspec.structs.replace(
        ready,
        loaded_at=current.loaded_at,
        last_reload=replica.last_reload,
        generation=current.generation,
        generated_at=current.dataset.generated_at,
        age_seconds=round((datetime.now(UTC) - current.dated).total_seconds(), 3),
        confirmed_at=replica.confirmed_at,
    )


def _probe(body: msgspec.Struct, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer((msgspec.json.encode(body),), status=status.value, headers=NO_STORE)

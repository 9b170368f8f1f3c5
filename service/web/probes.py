"""The probes: /health tells that the process is alive, /ready whether it can answer."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Final, Literal

import msgspec

from service.operation import Operation
from service.replica import Reload, Replica
from service.web.answer import Answer, header_lines
from service.web.routes import Call, Route, described

_TAG: Final = "probes"
_NO_STORE: Final = header_lines({"Cache-Control": "no-store"})


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: Literal["ok"]


class Loading(msgspec.Struct, frozen=True):
    """The data is not there yet."""

    status: Literal["loading"]


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What is served: the version of the data, how many records, how many were left out, and the last reload."""

    status: Literal["ready"]
    version: str
    stores: int
    companies: int
    skipped: int
    loaded_at: Annotated[datetime, msgspec.Meta(tz=True)]
    last_reload: Reload


def probe_routes(replica: Replica) -> tuple[Route, ...]:
    """Return the routes of the probes."""
    health = Operation(
        path="/health",
        tag=_TAG,
        operation_id="health",
        summary="Tell whether the process is alive",
        description="Answers as soon as the process listens.",
        answers={HTTPStatus.OK: Health},
    )
    ready = Operation(
        path="/ready",
        tag=_TAG,
        operation_id="ready",
        summary="Tell whether requests can be answered",
        description="Answers 503 until the data is loaded, then what is served.",
        answers={HTTPStatus.OK: Ready, HTTPStatus.SERVICE_UNAVAILABLE: Loading},
    )
    return (described(health, lambda _: _probe(Health("ok"))), described(ready, _readiness(replica)))


def _readiness(replica: Replica) -> Callable[[Call], Answer]:
    def answer(_: Call) -> Answer:
        current, last_reload = replica.current, replica.last_reload
        if current is None or last_reload is None:
            return _probe(Loading("loading"), HTTPStatus.SERVICE_UNAVAILABLE.value)
        ready = Ready(
            status="ready",
            version=current.dataset.version,
            stores=len(current.dataset.stores),
            companies=len(current.dataset.companies),
            skipped=current.skipped,
            loaded_at=current.loaded_at,
            last_reload=last_reload,
        )
        return _probe(ready)

    return answer


def _probe(body: msgspec.Struct, status: int = HTTPStatus.OK.value) -> Answer:
    return Answer((msgspec.json.encode(body),), status=status, headers=_NO_STORE)

"""Requests of a shape as bytes and in their parts, and the parts of the service that answer them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from bench.wire.shapes import COMPANY_PATH, KEY, Request
from service.access.keyring import Keyring
from service.access.principal import static_principals
from service.data_set import Dataset
from service.model.attributes import NO_ATTRIBUTES
from service.model.operation import KEY_HEADER
from service.model.query import QueryParser
from service.model.records import STORES
from service.settings import Settings
from service.snapshot.snapshot import Snapshot, SnapshotHolder
from service.web.endpoints.resources import ServedData, record_routes
from service.web.pipeline.app import App
from service.web.pipeline.auth import Authenticate, api_key_authentication
from service.web.pipeline.recent_answers import RecentAnswers
from service.web.pipeline.request_parameters import Parse, RequestParameters, parser
from service.web.pipeline.routes import Call, ResourceRoute, Routes
from service.web.requests.request_fields import RequestFields
from service.web.site import make_site

_MAX_TARGETS: Final = 400
_CACHED_BYTES: Final = 1 << 30
_COMPANY: Final = f"{COMPANY_PATH}{{company_id}}"
_READERS: Final = {_COMPANY: QueryParser(), f"/{STORES.name}": QueryParser(STORES)}


class Target(msgspec.Struct, frozen=True):
    """A request target: its path, the raw value of the path parameter, and the raw query string."""

    path: str
    segment: str
    query: str

    @classmethod
    def of(cls, request: Request) -> "Target":
        """Return the target of a request of a shape."""
        path, _, query = request.target.partition("?")
        return cls(path, path.removeprefix(COMPANY_PATH) if path.startswith(COMPANY_PATH) else "", query)

    @property
    def operation(self) -> str:
        """The path of its route."""
        return _COMPANY if self.segment else self.path

    def head(self, number: int | None = None) -> bytes:
        """Return the bytes of a request, with the fields that wrk sends, and with a number a User-Agent of its own."""
        target = f"{self.path}?{self.query}" if self.query else self.path
        own = () if number is None else (f"User-Agent: bench-{number}",)
        lines = (f"GET {target} HTTP/1.1", f"{KEY_HEADER}: {KEY}", *own, "Host: 127.0.0.1:8080", "", "")
        return "\r\n".join(lines).encode()

    def new_parser(self) -> Parse:
        """Return a parser of its parameters."""
        return parser(self.operation, lambda _: _READERS[self.operation])


class Pipeline(msgspec.Struct, frozen=True):
    """The targets of a shape, and the parts of a service with its data set."""

    targets: Sequence[Target]
    dataset: Dataset
    app: App
    routes: Routes
    authenticate: Authenticate
    parse: Parse
    recent: RecentAnswers

    def asked(self, target: Target) -> RequestParameters:
        """Return the parameters of a target."""
        return self.parse(NO_ATTRIBUTES, target.segment, target.query, False)

    def call(self, target: Target, fields: RequestFields) -> tuple[ResourceRoute, Call]:
        """Return the route of a target, and the call with some header fields to it."""
        route, segment = self.routes.find(target.path)
        if not isinstance(route, ResourceRoute):
            raise TypeError(f"{target.path} is the path of no resource")
        return route, Call(segment, target.query, fields)


def make_pipeline(dataset: Dataset, requests: Sequence[Request]) -> Pipeline:
    """Return the parts of a service with a data set, for requests of one shape."""
    now = datetime.now(UTC)
    holder = SnapshotHolder()
    holder.current = Snapshot(dataset=dataset, loaded_at=now, modified=now)
    authenticate = api_key_authentication(Keyring(static_principals([KEY])))
    targets = list(map(Target.of, requests[:_MAX_TARGETS]))
    return Pipeline(
        targets=targets,
        dataset=dataset,
        app=make_site(holder, authenticate, Settings()).public,
        routes=Routes(record_routes(ServedData(holder, Settings()))),
        authenticate=authenticate,
        parse=targets[0].new_parser(),
        recent=RecentAnswers(holder, _CACHED_BYTES, lambda _: None),
    )

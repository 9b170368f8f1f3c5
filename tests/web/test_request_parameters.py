"""The parameters of a request: what is made of a path segment and a query string."""

import logging

import pytest
from aiohttp import HttpVersion11
from msgspec import UNSET
from multidict import CIMultiDict, CIMultiDictProxy

from service.model.operation import GEO_JSON
from service.model.query import Filter, Query
from service.publishing.snapshot import SnapshotHolder
from service.web.endpoints.resources import ServedData, record_routes
from service.web.http.request import Request, RequestFields
from service.web.pipeline.plan import Identity
from service.web.pipeline.routes import Routes
from tests.loaded import Data, serve
from tests.web.live import DEFAULTS


@pytest.fixture
async def served(snapshots: SnapshotHolder, data: Data) -> SnapshotHolder:
    await serve(snapshots, data)
    return snapshots


def identity(snapshots: SnapshotHolder, target: str, accept: str = "*/*") -> Identity:
    path, _, query = target.partition("?")
    route, segment = Routes(record_routes(ServedData(snapshots, DEFAULTS))).find(path)
    return route.plan(segment, request(path, query, {"Accept": accept})).representation.identity  # type: ignore[union-attr]


def request(path: str, query: str, fields: dict[str, str]) -> Request:
    headers = RequestFields(CIMultiDictProxy(CIMultiDict(fields)))
    return Request(b"", "GET", path, query, HttpVersion11, headers, None)


async def test_an_identity_has_the_normalized_query_and_the_version(served: SnapshotHolder) -> None:
    made = identity(served, "/stores?city=b&city=a")
    assert served.current is not None
    expected = Query((Filter("city", ("a", "b")),))
    assert (made.operation, made.parameters, made.version) == ("/stores", expected, served.current.dataset.version)
    assert made.links is UNSET


async def test_an_identity_in_another_media_type_has_the_links_of_its_body(served: SnapshotHolder) -> None:
    made = identity(served, "/stores?limit=2", GEO_JSON)
    assert (made.media_type, made.links) == (GEO_JSON, "/stores?limit=2&page_num=")


async def test_an_identity_has_the_decoded_segment(served: SnapshotHolder) -> None:
    assert identity(served, "/companies/a%2Fb%20c").parameters == "a/b c"


async def test_an_unknown_parameter_that_an_interval_replaces_is_logged_once_an_hour_without_its_value(
    served: SnapshotHolder, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = [0.0]
    routes = Routes(record_routes(ServedData(served, DEFAULTS, lambda: seconds[0])))

    def ask(query: str) -> list[str]:
        """Return what a request logs."""
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            route, segment = routes.find("/stores")
            route.plan(segment, request("/stores", query, {}))  # type: ignore[union-attr]
        return caplog.messages

    line = ["unknown parameter 'created[gte]' ignored; use an interval, such as created_at=A/.."]
    assert ask("page=1&size=2") == []
    assert ask("page=1&created%5Bgte%5D=secret&updated_since=2026") == line
    assert ask("updated_since=2026") == []
    seconds[0] = 3600.0
    assert ask("created[gte]=2026") == line

"""The parameters of a request: what is made of a path segment and a query string."""

import logging

import pytest
from aiohttp import HttpVersion11
from multidict import CIMultiDict, CIMultiDictProxy

from service.model.operation import GEO_JSON
from service.publishing.snapshot import SnapshotHolder
from service.web.endpoints.resources import ServedData, record_routes
from service.web.http.request import Request, RequestFields
from service.web.pipeline.plan import Plan
from service.web.pipeline.routes import Routes
from tests.loaded import Data, serve
from tests.web.live import DEFAULTS


@pytest.fixture
async def served(snapshots: SnapshotHolder, data: Data) -> SnapshotHolder:
    await serve(snapshots, data)
    return snapshots


def plan(routes: Routes, query: str, accept: str = "*/*") -> Plan:
    """Return the plan of an answer to a list of stores."""
    route, segment = routes.find("/stores")
    headers = RequestFields(CIMultiDictProxy(CIMultiDict({"Accept": accept})))
    return route.plan(segment, Request(b"", "GET", "/stores", query, HttpVersion11, headers, None))  # type: ignore[union-attr]


async def test_an_identity_in_another_media_type_has_the_links_of_its_body(served: SnapshotHolder) -> None:
    routes = Routes(record_routes(ServedData(served, DEFAULTS)))
    made = plan(routes, "limit=2", GEO_JSON).representation.identity
    assert (made.media_type, made.links) == (GEO_JSON, "/stores?limit=2&page_num=")


async def test_an_unknown_parameter_that_an_interval_replaces_is_logged_once_an_hour_without_its_value(
    served: SnapshotHolder, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = [0.0]
    routes = Routes(record_routes(ServedData(served, DEFAULTS, lambda: seconds[0])))

    def ask(query: str) -> list[str]:
        """Return what a request logs."""
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            plan(routes, query)
        return caplog.messages

    line = ["unknown parameter 'created[gte]' ignored; use an interval, such as created_at=A/.."]
    assert ask("page=1&size=2") == []
    assert ask("page=1&created%5Bgte%5D=secret&updated_since=2026") == line
    assert ask("updated_since=2026") == []
    seconds[0] = 3600.0
    assert ask("created[gte]=2026") == line

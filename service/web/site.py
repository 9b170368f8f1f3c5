"""The applications behind the public and the admin listener."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from socket import socket
from typing import Final

import msgspec
from aiohttp import web

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.openapi import openapi_document
from service.model.operation import Operation
from service.publishing.snapshot import SnapshotHolder
from service.settings import Settings
from service.web.connections.limits import ADMIN_CONNECTIONS, MAX_ADMIN_HELD_BYTES, Limits
from service.web.connections.server import limit_unacknowledged, runner
from service.web.endpoints.documents import (
    document_routes,
    embed_routes,
    explorer_routes,
    public_routes,
    start_route,
)
from service.web.endpoints.locations import cluster_route, place_route
from service.web.endpoints.probes import METRICS_PATH, metrics_route, probe_routes
from service.web.endpoints.resources import ServedData, record_routes
from service.web.endpoints.whole_results import whole_result_routes
from service.web.http.forwarded import parse_trusted_proxies
from service.web.pipeline.access_log import WriteEntry
from service.web.pipeline.app import App
from service.web.pipeline.auth import Authentication, no_authentication
from service.web.pipeline.counters import UNMATCHED, Counters, KeyCounters
from service.web.pipeline.observer import Observer

# Connections that may wait to be accepted; the system may allow fewer.
_BACKLOG: Final = 1024


class Site(msgspec.Struct, frozen=True):
    """The public application, the operator's if it has a listener of its own, and what makes the OpenAPI document."""

    public: App
    admin: App | None
    openapi: Callable[[Schema], bytes]


def make_site(
    snapshots: SnapshotHolder,
    authenticate: Authentication,
    settings: Settings,
    *,
    log: WriteEntry | None = None,
    key_file_ok: Callable[[], bool] | None = None,
) -> Site:
    """Return the applications. With an admin listener, probes and metrics are there only.

    No path of the admin listener needs a key. The access log has the public requests. `key_file_ok` returns whether
    this process could read the key file.
    """
    data, probes = ServedData(snapshots, settings), probe_routes(snapshots)
    records = (*record_routes(data), cluster_route(data), place_route(data), *whole_result_routes(data))
    documented = records if settings.admin else (*records, *probes)

    def operations(schema: Schema) -> list[Operation]:
        return [route.describe(schema) for route in documented if route.describe is not None]

    def openapi(schema: Schema) -> bytes:
        return openapi_document(operations(schema), schema)

    documents = document_routes(data, openapi, settings)
    plain = operations(NO_ATTRIBUTES)
    explorer = public_routes if settings.explorer == "public" else explorer_routes
    pages = (*explorer(settings), *embed_routes(data, settings))
    public = (*records, *documents, *pages, start_route(plain, settings))
    labels = dict.fromkeys(route.group or route.path for route in (*public, *probes))
    slot, trusted = snapshots.slot, parse_trusted_proxies(settings.trusted_proxy)
    traffic = Counters([*labels, METRICS_PATH, UNMATCHED], slot)
    if not settings.admin:
        private = (*probes, metrics_route(snapshots, traffic, key_file_ok=key_file_ok))
        observer = Observer(traffic, log=log, trusted_proxies=trusted)
        return Site(App((*public, *private), snapshots, authenticate, observer, settings), None, openapi)
    after = slice(traffic.length, None)
    key_counters = KeyCounters(slot.counts[after], lambda: [counts[after] for counts in slot.all_counts()])
    private = (*probes, metrics_route(snapshots, traffic, key_counters, key_file_ok=key_file_ok))
    without_cors = msgspec.structs.replace(settings, cors_origin=())
    admin = App(private, snapshots, no_authentication, Observer(traffic), without_cors)
    observer = Observer(traffic, key_counters=key_counters, log=log, trusted_proxies=trusted)
    return Site(App(public, snapshots, authenticate, observer, settings), admin, openapi)


async def open_site(
    site: Site, limits: Limits, *, public: Sequence[socket], admin: Sequence[socket]
) -> Callable[[], Awaitable[object]]:
    """Serve on bound sockets; return the function that closes them and ends their connections."""
    servers = []
    admin_limits = msgspec.structs.replace(limits, connections=ADMIN_CONNECTIONS, held_bytes=MAX_ADMIN_HELD_BYTES)
    for app, sockets, app_limits in ((site.public, public, limits), (site.admin, admin, admin_limits)):
        if app is not None:
            server = runner(app, app_limits)
            await server.setup()
            for each in sockets:
                limit_unacknowledged(each, 2 * app_limits.write_seconds)
                await web.SockSite(server, each, backlog=_BACKLOG).start()
            servers.append(server)

    async def close() -> None:
        await asyncio.gather(*(server.cleanup() for server in servers))
        await site.public.close()

    return close

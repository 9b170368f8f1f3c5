"""What stands behind each listener."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from socket import socket
from typing import Final

import msgspec
from aiohttp import web

from service.openapi import openapi_document
from service.replica.replica import Replica
from service.web.app import App
from service.web.auth import Authenticate, anybody
from service.web.documents import document_routes
from service.web.limits import ADMIN_CONNECTIONS, Limits
from service.web.metrics import METRICS_PATH, metrics_route
from service.web.policy import Policy
from service.web.probes import probe_routes
from service.web.records import record_routes
from service.web.server import give_up, runner
from service.web.traffic import UNMATCHED, Traffic

# Connections that wait to be accepted; the system may allow fewer.
_BACKLOG: Final = 1024


class Site(msgspec.Struct, frozen=True):
    """The public application; that for whoever runs the service, where it stands apart; the OpenAPI document."""

    public: App
    admin: App | None
    openapi: bytes


def make_site(replica: Replica, authenticate: Authenticate, policy: Policy, *, apart: bool = False) -> Site:
    """Return what answers; where it is to stand `apart`, probes and metrics are not public, and need no key."""
    records, probes = record_routes(replica, policy), probe_routes(replica)
    described = records if apart else (*records, *probes)
    openapi = openapi_document([route.operation for route in described if route.operation is not None])
    public = (*records, *document_routes(openapi))
    paths = [route.path for route in (*public, *probes)]
    traffic = Traffic([*paths, METRICS_PATH, UNMATCHED], replica.seat.counts, replica.seat.all_counts)
    private = (*probes, metrics_route(replica, traffic))
    if apart:
        admin = App(private, replica, anybody, traffic, msgspec.structs.replace(policy, origins=frozenset()))
        return Site(App(public, replica, authenticate, traffic, policy), admin, openapi)
    return Site(App((*public, *private), replica, authenticate, traffic, policy), None, openapi)


async def open_site(
    site: Site, limits: Limits, *, public: Sequence[socket], admin: Sequence[socket]
) -> Callable[[], Awaitable[object]]:
    """Answer on bound sockets, on those of `admin` if there are any; return what ends that."""
    servers = []
    of_admin = msgspec.structs.replace(limits, connections=ADMIN_CONNECTIONS)
    for app, sockets, allowed in ((site.public, public, limits), (site.admin, admin, of_admin)):
        if app is not None:
            server = runner(app, allowed)
            await server.setup()
            for each in sockets:
                give_up(each, 2 * allowed.write_seconds)
                await web.SockSite(server, each, backlog=_BACKLOG).start()
            servers.append(server)
    return lambda: asyncio.gather(*(server.cleanup() for server in servers))

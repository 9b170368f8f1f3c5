"""What stands behind each listener."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from socket import socket
from typing import Final

import msgspec
from aiohttp import web

from service.model.openapi import openapi_document
from service.snapshot.snapshot import SnapshotHolder
from service.web.app import App
from service.web.auth import Authenticate, no_authentication
from service.web.connections.limits import ADMIN_CONNECTIONS, Limits
from service.web.connections.server import limit_unacknowledged, runner
from service.web.endpoints.documents import document_routes
from service.web.endpoints.metrics import METRICS_PATH, metrics_route
from service.web.endpoints.probes import probe_routes
from service.web.endpoints.resources import record_routes
from service.web.policy import Policy
from service.web.telemetry.access_log import AccessLogWriter
from service.web.telemetry.counters import UNMATCHED, Counters
from service.web.telemetry.key_counters import KeyCounters
from service.web.telemetry.observer import Observer

# Connections that wait to be accepted; the system may allow fewer.
_BACKLOG: Final = 1024


class Site(msgspec.Struct, frozen=True):
    """The public application; that for whoever runs the service, where it stands apart; the OpenAPI document."""

    public: App
    admin: App | None
    openapi: bytes


def make_site(
    replica: SnapshotHolder,
    authenticate: Authenticate,
    policy: Policy,
    *,
    apart: bool = False,
    log: AccessLogWriter | None = None,
) -> Site:
    """Return what answers; where it is to stand `apart`, probes and metrics are not public, and need no key.

    What is public is told to the access log, if there is one.
    """
    records, probes = record_routes(replica, policy), probe_routes(replica)
    described = records if apart else (*records, *probes)
    openapi = openapi_document([route.operation for route in described if route.operation is not None])
    public = (*records, *document_routes(openapi))
    paths = [route.path for route in (*public, *probes)]
    slot = replica.slot
    traffic = Counters([*paths, METRICS_PATH, UNMATCHED], slot)
    if not apart:
        private = (*probes, metrics_route(replica, traffic, keys_sound=policy.keys_sound))
        observer = Observer(traffic, log=log, forwarding=policy.forwarding)
        return Site(App((*public, *private), replica, authenticate, observer, policy), None, openapi)
    behind = slice(traffic.length, None)
    callers = KeyCounters(slot.counts[behind], lambda: [counts[behind] for counts in slot.all_counts()])
    private = (*probes, metrics_route(replica, traffic, callers, keys_sound=policy.keys_sound))
    terms = msgspec.structs.replace(policy, origins=frozenset(), rates=False)
    admin = App(private, replica, no_authentication, Observer(traffic), terms)
    observer = Observer(traffic, callers=callers, log=log, forwarding=policy.forwarding)
    return Site(App(public, replica, authenticate, observer, policy), admin, openapi)


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
                limit_unacknowledged(each, 2 * allowed.write_seconds)
                await web.SockSite(server, each, backlog=_BACKLOG).start()
            servers.append(server)

    async def close() -> None:
        await asyncio.gather(*(server.cleanup() for server in servers))
        await site.public.close()

    return close

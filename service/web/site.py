"""What stands behind each listener."""

import msgspec

from service.openapi import openapi_document
from service.replica.replica import Replica
from service.web.app import App
from service.web.auth import Authenticate, anybody
from service.web.documents import document_routes
from service.web.metrics import METRICS_PATH, metrics_route
from service.web.probes import probe_routes
from service.web.records import record_routes
from service.web.traffic import UNMATCHED, Traffic


class Site(msgspec.Struct, frozen=True):
    """The public application; that for whoever runs the service, where it stands apart; the OpenAPI document."""

    public: App
    admin: App | None
    openapi: bytes


def make_site(replica: Replica, authenticate: Authenticate, *, apart: bool = False) -> Site:
    """Return what answers; where it is to stand `apart`, probes and metrics are not public, and need no key."""
    records, probes = record_routes(replica), probe_routes(replica)
    described = records if apart else (*records, *probes)
    openapi = openapi_document([route.operation for route in described if route.operation is not None])
    public = (*records, *document_routes(openapi))
    paths = [route.path for route in (*public, *probes)]
    traffic = Traffic([*paths, METRICS_PATH, UNMATCHED], replica.seat.counts, replica.seat.all_counts)
    private = (*probes, metrics_route(replica, traffic))
    if apart:
        admin = App(private, replica, anybody, traffic)
        return Site(App(public, replica, authenticate, traffic), admin, openapi)
    return Site(App((*public, *private), replica, authenticate, traffic), None, openapi)

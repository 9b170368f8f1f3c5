"""Requests that take long let others be answered in between."""

import asyncio

from service.snapshot.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.loaded import Data, serve
from tests.web.connections.harness import Wire
from tests.web.live import DEFAULTS, HEADERS, KEY, authentication


def request(target: str) -> bytes:
    lines = (f"GET {target} HTTP/1.1", "Host: t", *(f"{name}: {value}" for name, value in HEADERS.items()), "", "")
    return "\r\n".join(lines).encode()


def deliver(wire: Wire, target: str) -> None:
    """Send a request; it is answered as far as the server works without a turn of the event loop."""
    wire.unread += request(target)
    wire.deliver()


async def test_others_are_answered_between_the_facets_of_a_request(snapshots: SnapshotHolder, data: Data) -> None:
    await serve(snapshots, data)
    app = make_site(snapshots, authentication([KEY]), DEFAULTS).public
    slow, fast = Wire(app), Wire(app)
    for wire in (slow, fast):
        await wire.send(request("/stores"))
    deliver(slow, "/stores?facets=city,country,province,postal_code,is_open")
    turns = 0
    while len(slow.statuses) < 2:
        assert len(fast.statuses) == 1 + turns
        deliver(fast, "/stores?q=main")
        turns += 1
        assert len(fast.statuses) == 1 + turns
        await asyncio.sleep(0)
    assert turns == 1 + 5  # the task that goes on, and each facet
    assert slow.statuses == [200, 200]
    assert b'"is_open":{"distinct":2' in slow.answers

"""A request for what was just answered on a connection, with the same header fields, gets what any other would get."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import product
from math import inf
from pathlib import Path

import pytest
from msgspec import structs

from service.access.api_key import static_principals
from service.access.keyring import Keyring
from service.access.token_bucket import Rate
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline import answers
from service.web.pipeline.auth import KeyAuthentication
from service.web.site import make_site
from tests.directory import company, store, write_directory
from tests.loaded import Data, serve
from tests.web.conftest import SiteClient
from tests.web.connections.harness import Wire
from tests.web.live import DEFAULTS, KEY
from tests.web.reply import ask

TARGETS = (
    *("/stores?limit=2", "/stores?limit=2&x=1", "/stores?city=nowhere", "/stores/s1", "/companies?limit=2"),
    *("/companies/acme", "/companies/a%2Fb%20c", "/clusters?bbox=-180,-90,180,90&zoom=3"),
    *("/openapi.json", "/stores.csv"),
)
FIELDS: Sequence[Sequence[str]] = (
    (),
    ("Prefer: handling=strict",),
    ("Accept: application/geo+json",),
    ("Accept-Encoding: gzip",),
    ("Accept-Encoding: gzip, identity;q=0",),
    ("Accept-Encoding: br",),
    ("X-Dataset-Version: other",),
    ("If-None-Match: *",),
    ("If-Match: *",),
    ('If-Match: "other"',),
    ("If-None-Match: *", "Accept-Encoding: gzip"),
)
METHODS = ("GET", "HEAD")
# So that a repeated request is answered more often than it is made.
TIMES = 3


def request(target: str, *fields: str, method: str = "GET") -> bytes:
    return "\r\n".join((f"{method} {target} HTTP/1.1", "Host: t", f"x-api-key: {KEY}", *fields, "", "")).encode()


class Service:
    """A service whose keys may change, and connections to it."""

    def __init__(self, snapshots: SnapshotHolder, cached: int = DEFAULTS.response_cache) -> None:
        self.ring = Keyring(static_principals([KEY]))
        settings = structs.replace(DEFAULTS, response_cache=cached, cors_origin=("*",), server_timing=False)
        self.app = make_site(snapshots, KeyAuthentication(self.ring), settings).public
        self.wire = Wire(self.app)

    async def answer(self, sent: bytes) -> bytes:
        """Return the response on the one connection, but for what differs between equal ones."""
        self.wire.received.clear()
        await self.wire.send(sent)
        while not self.wire.received:  # noqa: ASYNC110 - a thread encodes it, outside of this loop
            await asyncio.sleep(0)
        await self.wire.finish()
        return self.wire.answers

    async def statuses(self, sent: bytes) -> list[int]:
        """Return the statuses of some responses to the same request."""
        self.wire.received.clear()
        await self.wire.send(*[sent] * TIMES)
        return self.wire.statuses


@pytest.fixture
async def service(snapshots: SnapshotHolder, data: Data) -> Service:
    await serve(snapshots, data)
    return Service(snapshots)


@pytest.fixture
def from_cache(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return for each request that was looked up by its line whether it was answered so."""
    found: list[bool] = []
    look_up = service.app.from_cache

    def recorded(*args: object) -> object:
        response = look_up(*args)  # type: ignore[arg-type]
        found.append(response is not None)
        return response

    monkeypatch.setattr(service.app, "from_cache", recorded)
    return found


async def test_it_is_answered_as_by_a_service_that_keeps_nothing(
    service: Service, snapshots: SnapshotHolder, from_cache: list[bool]
) -> None:
    made = Service(snapshots, cached=0)
    for fields, target, method in product(FIELDS, TARGETS, METHODS):
        sent = request(target, *fields, "Origin: https://a.example", "X-Request-Id: a", method=method)
        for _ in range(TIMES):
            assert await service.answer(sent) == await made.answer(sent), (target, fields, method)
    assert sum(from_cache) > len(FIELDS) * len(TARGETS)


CHANGES: list[tuple[Callable[[Service], None], list[int]]] = [
    (lambda service: setattr(service.ring, "principals", {}), [401, 401, 401]),
    (lambda service: setattr(service.ring, "principals", limited(service)), [200, 429, 429]),
]


def limited(service: Service) -> object:
    """Return the principals with a rate of one request an hour."""
    return {key: structs.replace(each, rate=Rate(1, 3600, 1)) for key, each in service.ring.principals.items()}


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=["revoked", "limited"])
async def test_the_key_is_checked_each_time(
    service: Service, from_cache: list[bool], change: Callable[[Service], None], expected: list[int]
) -> None:
    assert await service.statuses(request("/stores")) == [200, 200, 200]
    assert from_cache[-1]
    change(service)
    assert await service.statuses(request("/stores")) == expected


async def test_a_condition_is_evaluated_each_time(service: Service, from_cache: list[bool]) -> None:
    await service.answer(request("/stores"))
    tag = bytes(service.wire.received).partition(b"\r\nETag: ")[2].partition(b"\r\n")[0].decode()
    for given, status in ((tag, 304), ('"other"', 200), (f"W/{tag}", 304), ("*", 304), ('"b"', 200)):
        assert await service.statuses(request("/stores", f"If-None-Match: {given}")) == [status] * TIMES
    assert sum(from_cache) > TIMES


async def test_the_version_of_each_request_decides_whether_the_connection_stays_open(service: Service) -> None:
    newer = request("/stores")
    older = newer.replace(b"HTTP/1.1", b"HTTP/1.0")
    await service.answer(older)
    service.wire = Wire(service.app)
    await service.answer(newer)
    assert await service.answer(newer) == await service.answer(newer)
    assert not service.wire.is_closing()
    await service.answer(older)
    assert service.wire.is_closing()


async def test_a_service_that_is_to_end_closes_the_connection(
    service: Service, snapshots: SnapshotHolder, from_cache: list[bool]
) -> None:
    assert await service.statuses(request("/stores")) == [200, 200, 200]
    snapshots.draining = True
    assert b"\r\nConnection: close\r\n" in await service.answer(request("/stores"))
    assert from_cache[-1]


async def test_new_data_is_served_at_once(service: Service, snapshots: SnapshotHolder, tmp_path: Path) -> None:
    before = await service.answer(request("/stores"))
    assert await service.answer(request("/stores")) == before
    await serve(snapshots, write_directory(tmp_path, [store("s1", name="Other")], [company("acme")]))
    after = await service.answer(request("/stores"))
    assert snapshots.current is not None
    assert f"X-Dataset-Version: {snapshots.current.dataset.version}".encode() in after
    assert f"X-Dataset-Version: {snapshots.current.dataset.version}".encode() not in before


PAGES = ("/stores?limit=1", "/stores?limit=1000", "/stores.csv")


@pytest.mark.parametrize(
    ("used", "expected"),
    [(0.5, [200, 200, 200]), (0.51, [200, 200, 503]), (1, [200, 200, 503]), (1.01, [200, 503, 503])],
)
async def test_long_answers_and_files_are_refused_while_connections_hold_much_memory(
    snapshots: SnapshotHolder, tmp_path: Path, used: float, expected: list[int]
) -> None:
    await serve(
        snapshots, write_directory(tmp_path, [store(f"s{number}") for number in range(1000)], [company("acme")])
    )
    service = Service(snapshots)
    for _ in range(TIMES):
        service.app.memory_used = 0
        assert [await service.statuses(request(page)) for page in PAGES] == [[200] * TIMES] * len(PAGES)
        service.app.memory_used = used
        assert [await service.statuses(request(page)) for page in PAGES] == [[status] * TIMES for status in expected]


@pytest.mark.parametrize("cached", [0, 1])
async def test_errors_are_not_kept(site_client: SiteClient, cached: int) -> None:
    client = await site_client(response_cache=cached)
    for target, status in (("/stores?limit=0", 422), ("/companies/none", 404), ("/nothing", 404)):
        assert [(await ask(client, target)).status for _ in range(2)] == [status, status]
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'store_directory_response_cache_total{result="hit"} 0.0' in metrics


async def test_requests_that_were_sent_once_are_forgotten_when_they_are_many(
    site_client: SiteClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_MOST_ONCE", 2)
    monkeypatch.setattr(answers, "_LONG", inf)
    client = await site_client()
    for number in (1, 2, 3, 1, 1, 1):
        await ask(client, f"/stores?limit={number}")
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'store_directory_response_cache_total{result="hit"} 1.0' in metrics
    assert 'store_directory_response_cache_total{result="miss"} 5.0' in metrics

"""Queries that take long are answered in a thread, and others meanwhile."""

import asyncio
import gc
from collections.abc import Iterator
from threading import Event

import pytest

from service.engine import clusters, long_work
from service.snapshot.snapshot import SnapshotHolder
from service.web.formats import engine_thread
from service.web.site import make_site
from tests.loaded import Data, serve
from tests.web.conftest import SiteClient
from tests.web.connections.harness import Wire
from tests.web.live import DEFAULTS, HEADERS, KEY, authentication, stable_fields
from tests.web.reply import ask

ACCEPTS = ((), ("Accept: application/geo+json",), ("If-None-Match: *", "Accept-Encoding: gzip"), ('If-Match: "other"',))
LONG = (
    "/stores?country=CA&is_open=true&sort_by=name",
    "/stores?country=CA&facets=city,country,province,postal_code,is_open",
    "/stores?near=1,2&city=ottawa",
    "/stores?q=m*&bbox=-170,-80,170,80",
    "/companies?q=a",
    "/clusters?bbox=-180,-90,180,90&zoom=3",
    "/clusters?bbox=-180,-90,180,90&zoom=3&is_open=true",
)
TARGETS = (*LONG, "/stores.csv?country=CA", "/stores.ndjson?near=1,2", "/stores?near=1,2&page_num=2&limit=2")


@pytest.fixture
def every_query_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "MOST_ROWS", 0)


@pytest.fixture
def busy_thread() -> Iterator[Event]:
    """Keep the thread busy until the event is set."""
    done = Event()
    engine_thread._THREAD.submit(done.wait)  # noqa: SLF001 - it has no other name
    yield done
    done.set()


def request(target: str) -> bytes:
    lines = (f"GET {target} HTTP/1.1", "Host: t", *(f"{name}: {value}" for name, value in HEADERS.items()), "", "")
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("target", TARGETS)
async def test_a_query_answered_in_the_thread_has_the_same_answer(site_client: SiteClient, target: str) -> None:
    expected = [await ask(await site_client(), target, *fields) for fields in ACCEPTS]
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(long_work, "MOST_ROWS", 0)
        answers = [await ask(await site_client(), target, *fields) for fields in ACCEPTS]
    for answer, other in zip(answers, expected, strict=True):
        assert (answer.status, answer.body) == (other.status, other.body)
        assert stable_fields(answer.headers) == stable_fields(other.headers)


@pytest.mark.usefixtures("every_query_is_long")
@pytest.mark.parametrize("target", LONG)
async def test_others_are_answered_while_a_query_waits_for_the_thread(
    snapshots: SnapshotHolder, folder: Data, busy_thread: Event, target: str
) -> None:
    await serve(snapshots, folder)
    app = make_site(snapshots, authentication([KEY]), DEFAULTS).public
    slow, fast = Wire(app), Wire(app)
    slow.unread += request(target)
    slow.deliver()
    for number in range(3):
        await fast.send(request(f"/stores?limit=2&page_num={number + 1}"))
        assert (len(fast.statuses), slow.statuses) == (number + 1, [])
    busy_thread.set()
    while not slow.statuses:  # noqa: ASYNC110 - what is waited for is not in this loop
        await asyncio.sleep(0)
    assert slow.statuses == [200]


@pytest.mark.usefixtures("every_query_is_long")
async def test_an_answer_from_data_that_was_replaced_meanwhile_is_not_kept(
    snapshots: SnapshotHolder, folder: Data, data: Data, busy_thread: Event
) -> None:
    await serve(snapshots, folder)
    wire = Wire(make_site(snapshots, authentication([KEY]), DEFAULTS).public)
    wire.unread += request(LONG[0])
    wire.deliver()
    await asyncio.sleep(0)
    await serve(snapshots, data)
    busy_thread.set()
    while not wire.statuses:  # noqa: ASYNC110 - what is waited for is not in this loop
        await asyncio.sleep(0)
    assert [list(cache) for cache in snapshots.caches] == [[], []]


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("target", ["/clusters?bbox=-170,-80,170,80&zoom=3", "/stores?limit=0&q=" + 17 * "a+", LONG[0]])
async def test_an_answer_leaves_no_error_to_the_garbage_collector(
    snapshots: SnapshotHolder, folder: Data, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    await serve(snapshots, folder)
    monkeypatch.setattr(long_work, "MOST_ROWS", 0)
    monkeypatch.setattr(clusters, "MAX_CELLS", 0)
    wire = Wire(make_site(snapshots, authentication([KEY]), DEFAULTS).public)
    wire.unread += request(target)
    wire.deliver()
    while not wire.statuses:  # noqa: ASYNC110 - what is waited for is not in this loop
        await asyncio.sleep(0)
    assert wire.statuses == [200 if target == LONG[0] else 422]
    engine_thread._THREAD.submit(int).result()  # noqa: SLF001 - it has done with the query before
    assert not [each for each in gc.get_objects() if isinstance(each, Exception)]

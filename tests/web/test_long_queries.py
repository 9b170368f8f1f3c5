"""Queries that take long are answered in a thread, and others meanwhile."""

import asyncio
from collections.abc import Iterator
from threading import Event

import msgspec
import pytest

from service.engine.columns import row_budget
from service.engine.geography import clusters
from service.model.operation import KEY_HEADER
from service.publishing.snapshot import SnapshotHolder
from service.web.endpoints import whole_results as whole_result
from service.web.http.response import Answer
from service.web.pipeline.app import App
from service.web.pipeline.auth import no_authentication
from service.web.pipeline.plan import MAX_LONG_QUERIES, MAX_LONG_QUERIES_OF_A_KEY, QUERY_THREAD, in_turn
from service.web.site import make_site
from tests.loaded import Data, serve
from tests.web.conftest import garbage
from tests.web.connections.harness import Wire, settle
from tests.web.live import DEFAULTS, KEY, authentication

LONG = (
    "/stores?country=CA&is_open=true&sort_by=name",
    *("/stores?country=CA&facets=city,country,province,postal_code,is_open", "/stores?near=1,2&city=ottawa"),
    *("/stores?q=m*&bbox=-170,-80,170,80", "/companies?q=a"),
    *("/clusters?bbox=-180,-90,180,90&zoom=3", "/clusters?bbox=-180,-90,180,90&zoom=3&is_open=true"),
)


@pytest.fixture
async def app(snapshots: SnapshotHolder, folder: Data) -> App:
    await serve(snapshots, folder)
    return make_site(snapshots, authentication([KEY, "other"]), DEFAULTS).public


@pytest.fixture
def every_query_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_budget, "MOST_ROWS", 0)


@pytest.fixture
def busy_thread() -> Iterator[Event]:
    """Keep the threads busy until the event is set."""
    done = Event()
    for thread in (QUERY_THREAD, whole_result._SORTING):  # noqa: SLF001 - it has no other name
        thread.submit(done.wait)
    yield done
    done.set()


def request(target: str, key: str = KEY) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: t\r\n{KEY_HEADER}: {key}\r\n\r\n".encode()


async def waiting(app: App, target: str, *keys: str) -> list[Wire]:
    """Return connections that have sent a query each, which is another one for each, with these keys."""
    wires = [Wire(app) for _ in keys]
    for number, (wire, key) in enumerate(zip(wires, keys, strict=True), 1):
        wire.put(request(f"{target}&limit={number}", key))
    await settle()
    return wires


async def answered(*wires: Wire) -> list[int]:
    """Return the statuses of the responses, once each connection has one."""
    while not all(wire.statuses for wire in wires):  # noqa: ASYNC110 - what is waited for is not in this loop
        await asyncio.sleep(0)
    return [status for wire in wires for status in wire.statuses]


@pytest.mark.usefixtures("every_query_is_long")
@pytest.mark.parametrize("target", LONG)
async def test_others_are_answered_while_a_query_waits_for_the_thread(
    app: App, busy_thread: Event, target: str
) -> None:
    slow, fast = Wire(app), Wire(app)
    slow.put(request(target))
    for number in range(3):
        await fast.send(request(f"/stores?limit=2&page_num={number + 1}"))
        assert (len(fast.statuses), slow.statuses) == (number + 1, [])
    busy_thread.set()
    assert await answered(slow) == [200]


@pytest.mark.usefixtures("every_query_is_long")
@pytest.mark.parametrize("target", ["/stores?country=CA&sort_by=name", "/stores.csv?country=CA&sort_by=name"])
async def test_a_query_whose_client_has_left_is_not_begun(
    app: App, snapshots: SnapshotHolder, busy_thread: Event, target: str
) -> None:
    for _ in range(2 * MAX_LONG_QUERIES_OF_A_KEY):
        (wire,) = await waiting(app, target, KEY)
        wire.drop(ConnectionResetError())
        await settle()
    other = await waiting(app, "/companies?q=a", KEY)
    busy_thread.set()
    assert await answered(*other) == [200]
    assert snapshots.current is not None
    assert not list(snapshots.current.dataset.stores.selections)
    counted = next(each for each in app.traffic.collect() if each.name == "store_directory_http_requests")
    counts = {sample.labels["status"]: sample.value for sample in counted.samples if sample.name.endswith("_total")}
    assert counts == {"200": 1, "499": 2 * MAX_LONG_QUERIES_OF_A_KEY}


@pytest.mark.usefixtures("every_query_is_long")
@pytest.mark.parametrize(
    "target", [LONG[0], LONG[-1], "/stores.csv?country=CA&sort_by=name", "/stores.ndjson?near=1,2"]
)
async def test_a_key_has_few_long_queries_at_a_time_and_the_next_is_a_503(
    app: App, busy_thread: Event, target: str
) -> None:
    *first, refused, other = await waiting(app, target, *[KEY] * MAX_LONG_QUERIES_OF_A_KEY, KEY, "other")
    assert ([*map(len, (wire.statuses for wire in first))], other.statuses) == ([0] * MAX_LONG_QUERIES_OF_A_KEY, [])
    assert await answered(refused) == [503]
    assert b"\r\nRetry-After: 1\r\n" in refused.received
    assert b"\r\nCache-Control: no-store\r\n" in refused.received
    busy_thread.set()
    assert await answered(*first, other) == [200] * (MAX_LONG_QUERIES_OF_A_KEY + 1)
    refused.received.clear()
    refused.put(request(f"{target}&limit={MAX_LONG_QUERIES_OF_A_KEY + 1}"))
    assert await answered(refused) == [200]


@pytest.mark.usefixtures("every_query_is_long")
async def test_a_process_has_a_bound_of_long_queries_also_without_keys(
    snapshots: SnapshotHolder, folder: Data, busy_thread: Event
) -> None:
    await serve(snapshots, folder)
    app = make_site(snapshots, no_authentication, msgspec.structs.replace(DEFAULTS, no_auth=True)).public
    *first, refused = await waiting(app, LONG[0], *[""] * (MAX_LONG_QUERIES + 1))
    assert (await answered(refused), any(wire.statuses for wire in first)) == ([503], False)
    busy_thread.set()
    assert await answered(*first) == [200] * MAX_LONG_QUERIES


@pytest.mark.parametrize("error", [StopIteration, ZeroDivisionError, MemoryError, asyncio.InvalidStateError])
async def test_any_error_in_the_thread_is_an_error_of_the_request(error: type[Exception]) -> None:
    def fails() -> Answer:
        raise error

    with pytest.raises(RuntimeError if error is StopIteration else error):
        await in_turn(QUERY_THREAD, fails, None)


@pytest.mark.usefixtures("every_query_is_long")
async def test_an_answer_from_data_that_was_replaced_meanwhile_is_not_kept(
    app: App, snapshots: SnapshotHolder, data: Data, busy_thread: Event
) -> None:
    wire = Wire(app)
    wire.put(request(LONG[0]))
    await asyncio.sleep(0)
    await serve(snapshots, data)
    busy_thread.set()
    await answered(wire)
    assert [list(cache) for cache in snapshots.caches] == [[], []]


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("target", ["/clusters?bbox=-170,-80,170,80&zoom=3", "/stores?limit=0&q=" + 17 * "a+", LONG[0]])
async def test_an_answer_leaves_no_error_to_the_garbage_collector(
    app: App, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(row_budget, "MOST_ROWS", 0)
    monkeypatch.setattr(clusters, "MAX_CELLS", 0)
    wire = Wire(app)
    wire.put(request(target))
    assert await answered(wire) == [200 if target == LONG[0] else 422]
    QUERY_THREAD.submit(int).result()  # it has done with the query before
    assert not [each for each in garbage() if isinstance(each, BaseException)]


@pytest.mark.usefixtures("uncollected", "every_query_is_long")
async def test_a_client_that_leaves_leaves_no_error_to_the_garbage_collector(app: App, busy_thread: Event) -> None:
    (wire,) = await waiting(app, LONG[0], KEY)
    wire.drop(ConnectionResetError())
    await settle()
    busy_thread.set()
    QUERY_THREAD.submit(int).result()  # as above
    assert not [each for each in garbage() if isinstance(each, BaseException)]

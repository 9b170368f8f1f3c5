"""/health, /ready and /metrics."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient

from service.snapshot.publication import Reload
from service.snapshot.snapshot import SnapshotHolder
from service.snapshot.worker_slots import WorkerSlots
from service.web.auth import keyring
from service.web.site import make_site
from tests.loaded import serve
from tests.web.live import HEADERS, KEY, POLICY, Client, ServiceServer

COUNTS = ["status", "version", "stores", "companies", "skipped"]
MORE = ["loaded_at", "last_reload", "generation", "generated_at", "age_seconds", "confirmed_at"]
NOW = datetime.now(UTC)
FAILED = Reload(NOW, ok=False, error="stores.csv:2: city: it is missing")


async def samples(client: Client) -> dict[str, float]:
    """Return what /metrics tells, by name and labels."""
    response = await client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = (line for line in (await response.text()).splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_health_answers_while_the_data_is_loaded(loading_client: Client) -> None:
    response = await loading_client.get("/health")
    assert (response.status, await response.json()) == (200, {"status": "ok"})


async def test_ready_is_503_while_the_data_is_loaded(loading_client: Client) -> None:
    response = await loading_client.get("/ready")
    assert (response.status, await response.json()) == (503, {"status": "loading"})


async def test_ready_tells_who_has_no_key_that_it_is_ready_the_version_and_counts_alone(
    client: Client, replica: SnapshotHolder
) -> None:
    assert replica.current is not None
    for headers in ({}, {"x-api-key": "wrong"}):
        ready = await (await client.get("/ready", headers=headers)).json()
        assert list(ready) == COUNTS
        assert ready == {
            "status": "ready",
            "version": replica.current.dataset.version,
            "stores": 4,
            "companies": 3,
            "skipped": 0,
        }


async def test_ready_tells_who_has_a_key_of_when_the_data_is_and_how_it_came(
    client: Client, replica: SnapshotHolder
) -> None:
    replica.confirmed_at = NOW
    ready = await (await client.get("/ready", headers=HEADERS)).json()
    assert list(ready) == COUNTS + MORE
    assert ready["last_reload"] == {"at": ready["last_reload"]["at"], "ok": True, "error": None}
    assert datetime.fromisoformat(ready["loaded_at"]) <= datetime.now(UTC)
    assert (ready["generation"], ready["generated_at"]) == (1, None)
    assert 0 <= ready["age_seconds"] < 60
    assert datetime.fromisoformat(ready["confirmed_at"]) == NOW


async def test_a_failed_reload_is_told_and_what_was_served_stays(client: Client, replica: SnapshotHolder) -> None:
    replica.last_reload = FAILED
    response = await client.get("/ready", headers=HEADERS)
    ready = await response.json()
    assert (response.status, ready["stores"], ready["last_reload"]["ok"]) == (200, 4, False)
    assert ready["last_reload"]["error"] == FAILED.error
    assert (await samples(client))["store_directory_reload_success"] == 0
    assert (await client.get("/stores", headers=HEADERS)).status == 200


@pytest.mark.parametrize("after", ["loading", "stale", "draining"])
async def test_ready_is_503_and_says_why_and_the_data_is_answered_on(
    client: Client, replica: SnapshotHolder, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    replica.last_reload = FAILED
    if after == "loading":
        monkeypatch.setattr(replica, "current", None)
    replica.draining = after == "draining"
    replica.max_stale = 60
    replica.confirmed_at = datetime.now(UTC) - timedelta(seconds=61 if after == "stale" else 1)
    response = await client.get("/ready")
    assert (response.status, await response.json()) == (503, {"status": after})
    told = await (await client.get("/ready", headers=HEADERS)).json()
    assert (told["status"], told["last_reload"]["error"]) == (after, FAILED.error)
    assert (await client.get("/stores", headers=HEADERS)).status == (503 if after == "loading" else 200)


async def test_ready_is_503_until_every_worker_has_data_and_200_from_then_on(
    data: Path, aiohttp_client: AiohttpClient
) -> None:
    complete = [False, True, False]
    replica = SnapshotHolder(complete=lambda: complete.pop(0))
    await serve(replica, data)
    client: Client = await aiohttp_client(ServiceServer(make_site(replica, keyring([KEY]), POLICY).public))
    assert [(await client.get("/ready")).status for _ in range(4)] == [503, 200, 200, 200]
    assert (await client.get("/stores", headers=HEADERS)).status == 200


async def test_what_was_confirmed_in_time_is_not_stale(client: Client, replica: SnapshotHolder) -> None:
    replica.max_stale = 60
    replica.confirmed_at = datetime.now(UTC) - timedelta(seconds=30)
    assert (await client.get("/ready")).status == 200


async def test_while_draining_connections_are_closed_behind_each_answer(
    client: Client, replica: SnapshotHolder
) -> None:
    assert "Connection" not in (await client.get("/health")).headers
    replica.draining = True
    for path in ("/stores", "/health", "/nowhere"):
        assert (await client.get(path, headers=HEADERS)).headers["Connection"] == "close"


async def test_probes_and_metrics_can_stand_apart_and_need_no_key_there(
    replica: SnapshotHolder, data: Path, aiohttp_client: AiohttpClient
) -> None:
    await serve(replica, data)
    site = make_site(replica, keyring([KEY]), POLICY, apart=True)
    assert site.admin is not None
    public: Client = await aiohttp_client(ServiceServer(site.public))
    admin: Client = await aiohttp_client(ServiceServer(site.admin))
    for path in ("/health", "/ready", "/metrics"):
        assert (await public.get(path, headers=HEADERS)).status == 404
        assert (await admin.get(path)).status == 200
    assert list(await (await admin.get("/ready")).json()) == COUNTS + MORE
    assert (await public.get("/stores", headers=HEADERS)).status == 200
    assert (await admin.get("/stores", headers=HEADERS)).status == 404
    assert list((await (await public.get("/openapi.json")).json())["paths"]) == [
        "/stores",
        "/companies",
        "/companies/{company_id}",
    ]
    assert (await samples(admin))['store_directory_http_requests_total{method="GET",route="/stores",status="200"}'] == 1


async def test_metrics_count_records_and_requests_by_route(client: Client) -> None:
    for path in ("/stores", "/companies/acme", "/companies/nobody", "/nope", "/nope/2"):
        await client.get(path, headers=HEADERS)
    await client.request("PROPFIND", "/stores")
    told = await samples(client)
    requests = "store_directory_http_requests_total"
    assert told[f'{requests}{{method="GET",route="/stores",status="200"}}'] == 1
    assert told[f'{requests}{{method="GET",route="/companies/{{company_id}}",status="404"}}'] == 1
    assert told[f'{requests}{{method="GET",route="unmatched",status="404"}}'] == 2
    assert told[f'{requests}{{method="other",route="/stores",status="405"}}'] == 1
    assert told['store_directory_http_request_duration_seconds_count{route="/stores"}'] == 2
    assert told["store_directory_stores"] == 4
    assert told["store_directory_companies"] == 3
    assert told["store_directory_skipped_records"] == 0
    assert told["store_directory_reload_success"] == 1
    assert told["store_directory_workers"] == 1
    assert told["store_directory_dataset_generation"] == 1
    assert 0 <= told["store_directory_dataset_age_seconds"] < 60


async def test_metrics_of_the_process_are_told_by_one_that_is_alone(
    client: Client, tmp_path: Path, aiohttp_client: AiohttpClient
) -> None:
    assert "process_open_fds" in await samples(client)
    one_of_two = SnapshotHolder(WorkerSlots(tmp_path).claim())
    worker: Client = await aiohttp_client(ServiceServer(make_site(one_of_two, keyring([KEY]), POLICY).public))
    assert not any(name.startswith("process_") for name in await samples(worker))

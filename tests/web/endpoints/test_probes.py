"""/health, /ready and /metrics."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient

from service import __version__
from service.baking.layout import FORMAT
from service.publishing.snapshot import SnapshotHolder
from service.publishing.worker_slots import WorkerSlots
from service.publishing.workspace import Reload
from service.web.site import make_site
from tests.web.conftest import Listeners
from tests.web.live import DEFAULTS, HEADERS, KEY, Client, ServiceServer, authentication

COUNTS = ["status", "version", "stores", "companies", "skipped"]
MORE = ["loaded_at", "last_reload", "generation", "generated_at", "age_seconds", "confirmed_at"]
NOW = datetime.now(UTC)
FAILED = Reload(NOW, ok=False, error="stores.csv:2: city: it is missing")


async def samples(client: Client) -> dict[str, float]:
    """Return the samples of /metrics, by name and labels."""
    response = await client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = (line for line in (await response.text()).splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_responses_ready_and_metrics_have_the_same_data_version(client: Client) -> None:
    version = (await (await client.get("/ready")).json())["version"]
    for path in ("/stores", "/stores?city=nowhere", "/companies?limit=1", "/companies/acme", "/stores/s1"):
        assert (await client.get(path, headers=HEADERS)).headers["X-Dataset-Version"] == version
    metrics = await (await client.get("/metrics")).text()
    assert f'store_directory_dataset_info{{version="{version}"}} 1.0' in metrics
    assert f'store_directory_build_info{{format="{FORMAT.split()[-1]}",version="{__version__}"}} 1.0' in metrics


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_metric_has_whether_the_key_file_was_read(
    snapshots: SnapshotHolder, aiohttp_client: AiohttpClient, *, is_read: bool
) -> None:
    site = make_site(snapshots, authentication([KEY]), DEFAULTS, key_file_ok=lambda: is_read)
    metrics = await samples(await aiohttp_client(ServiceServer(site.public)))
    assert metrics["store_directory_key_file_success"] == is_read


async def test_while_the_data_is_loaded_health_is_200_and_ready_503(loading_client: Client) -> None:
    for path, status, text in (("/health", 200, "ok"), ("/ready", 503, "loading")):
        response = await loading_client.get(path)
        assert (response.status, await response.json()) == (status, {"status": text})


async def test_ready_without_a_valid_key_has_only_status_version_and_counts(
    client: Client, snapshots: SnapshotHolder
) -> None:
    assert snapshots.current is not None
    for headers in ({}, {"x-api-key": "wrong"}):
        ready = await (await client.get("/ready", headers=headers)).json()
        version = snapshots.current.dataset.version
        assert list(ready.items()) == list(zip(COUNTS, ("ready", version, 4, 3, 0), strict=True))


async def test_ready_with_a_valid_key_has_the_times_and_the_last_reload(
    client: Client, snapshots: SnapshotHolder
) -> None:
    snapshots.confirmed_at = NOW
    ready = await (await client.get("/ready", headers=HEADERS)).json()
    assert list(ready) == COUNTS + MORE
    assert ready["last_reload"] == {"at": ready["last_reload"]["at"], "ok": True, "error": None}
    assert datetime.fromisoformat(ready["loaded_at"]) <= datetime.now(UTC)
    assert (ready["generation"], ready["generated_at"]) == (1, None)
    snapshots.max_stale = 60
    snapshots.confirmed_at = datetime.now(UTC) - timedelta(seconds=30)
    assert 0 <= ready["age_seconds"] < 60
    assert datetime.fromisoformat(ready["confirmed_at"]) == NOW


async def test_a_failed_reload_is_reported_and_the_previous_data_served(
    client: Client, snapshots: SnapshotHolder
) -> None:
    snapshots.last_reload = FAILED
    response = await client.get("/ready", headers=HEADERS)
    ready = await response.json()
    assert (response.status, ready["stores"], ready["last_reload"]["ok"]) == (200, 4, False)
    assert ready["last_reload"]["error"] == FAILED.error
    assert (await samples(client))["store_directory_reload_success"] == 0
    assert (await client.get("/stores", headers=HEADERS)).status == 200


@pytest.mark.parametrize("reason", ["loading", "stale", "draining"])
async def test_ready_is_503_with_the_reason_while_the_data_is_still_served(
    client: Client, snapshots: SnapshotHolder, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    snapshots.last_reload = FAILED
    if reason == "loading":
        monkeypatch.setattr(snapshots, "current", None)
    snapshots.draining = reason == "draining"
    snapshots.max_stale = 60
    snapshots.confirmed_at = datetime.now(UTC) - timedelta(seconds=61 if reason == "stale" else 1)
    response = await client.get("/ready")
    assert (response.status, await response.json()) == (503, {"status": reason})
    ready = await (await client.get("/ready", headers=HEADERS)).json()
    assert (ready["status"], ready["last_reload"]["error"]) == (reason, FAILED.error)
    assert (await client.get("/stores", headers=HEADERS)).status == (503 if reason == "loading" else 200)


async def test_the_admin_listener_has_probes_and_metrics_without_a_key(listeners: Listeners) -> None:
    public, admin = await listeners()
    for path in ("/health", "/ready", "/metrics"):
        assert (await public.get(path, headers=HEADERS)).status == 404
        assert (await admin.get(path)).status == 200
    assert list(await (await admin.get("/ready")).json()) == COUNTS + MORE
    assert (await public.get("/stores", headers=HEADERS)).status == 200
    assert (await admin.get("/stores", headers=HEADERS)).status == 404
    assert list((await (await public.get("/openapi.json")).json())["paths"]) == [
        *("/stores", "/stores/{store_id}", "/companies", "/companies/{company_id}", "/clusters", "/places"),
        *("/stores.csv", "/stores.ndjson", "/stores.geojson", "/companies.csv", "/companies.ndjson"),
    ]
    assert (await samples(admin))['store_directory_http_requests_total{method="GET",route="/stores",status="200"}'] == 1


async def test_metrics_count_records_and_requests_by_route(client: Client) -> None:
    clusters = "/clusters?bbox=0,0,9,9&zoom=1"
    for path in ("/stores", "/companies/acme", "/companies/nobody", clusters, "/nope", "/nope/2"):
        await client.get(path, headers=HEADERS)
    await client.request("PROPFIND", "/stores")
    metrics = await samples(client)
    requests, durations = "http_requests_total", "http_request_duration_seconds_count"
    expected = {
        f'{requests}{{method="GET",route="/stores",status="200"}}': 1,
        f'{requests}{{method="GET",route="/companies/{{company_id}}",status="404"}}': 1,
        f'{requests}{{method="GET",route="/clusters",status="200"}}': 1,
        f'{requests}{{method="GET",route="unmatched",status="404"}}': 2,
        f'{requests}{{method="other",route="/stores",status="405"}}': 1,
        **{f'{durations}{{route="/stores",status="{status}"}}': 1 for status in ("2xx", "4xx")},
        "stores": 4,
        "companies": 3,
        "skipped_records": 0,
        "reload_success": 1,
        "workers": 1,
        "dataset_generation": 1,
    }
    assert {name: metrics[f"store_directory_{name}"] for name in expected} == expected
    assert 0 <= metrics["store_directory_dataset_age_seconds"] < 60


async def test_searches_that_found_nothing_are_counted_by_route_also_from_the_cache(client: Client) -> None:
    """And never what was searched for."""
    nothing = (*["/stores?q=zzz"] * 3, "/companies?q=zzz", "/stores.csv?q=zzz", "/places?q=zzz")
    found = ("/stores", "/stores?q=", "/stores?city=zzz", "/companies?q=acme", "/stores.csv", "/places?q=tor")
    for target in (*nothing, *found, "/places?q=-&country=zz"):
        await (await client.get(target, headers=HEADERS)).read()
    metrics = await samples(client)
    empty = {name: number for name, number in metrics.items() if "empty_searches" in name and "created" not in name}
    counts = {"/stores": 3, "/companies": 1, "/stores.csv": 1, "/places": 1}
    total = "store_directory_empty_searches_total"
    assert empty == {f'{total}{{route="{route}"}}': count for route, count in counts.items()}
    assert not [name for name in metrics if "zzz" in name]
    assert metrics['store_directory_response_cache_total{result="hit"}'] >= 1


async def test_the_bytes_of_bodies_are_counted_as_sent(client: Client) -> None:
    sent = 0
    for target in ("/stores", "/stores", "/stores?city=zzz"):
        answer = await client.get(target, headers=HEADERS)
        await answer.read()
        sent += int(answer.headers["Content-Length"])
    await client.head("/stores", headers=HEADERS)
    as_is = {**HEADERS, "Accept-Encoding": "identity"}
    exported = len(await (await client.get("/stores.csv", headers=as_is)).read())
    metrics = await samples(client)
    assert metrics['store_directory_http_response_bytes_total{route="/stores"}'] == sent
    assert metrics['store_directory_http_response_bytes_total{route="/stores.csv"}'] == exported


async def test_the_metrics_of_a_process_have_a_label_if_there_may_be_several(
    client: Client, tmp_path: Path, aiohttp_client: AiohttpClient
) -> None:
    assert "process_open_fds" in await samples(client)
    one_of_two = SnapshotHolder(WorkerSlots(tmp_path).claim())
    worker: Client = await aiohttp_client(ServiceServer(make_site(one_of_two, authentication([KEY]), DEFAULTS).public))
    names = {name for name in await samples(worker) if name.startswith("process_open_fds")}
    assert names == {'process_open_fds{process="0"}', 'process_open_fds{process="parent"}'}

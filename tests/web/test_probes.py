"""/health, /ready and /metrics."""

from datetime import UTC, datetime

import pytest

from service.replica import Refused, Replica
from tests.directory import store, write_directory
from tests.web.live import HEADERS, Client


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


async def test_ready_tells_what_is_served(client: Client, replica: Replica) -> None:
    ready = await (await client.get("/ready")).json()
    assert replica.current is not None
    assert list(ready) == ["status", "version", "stores", "companies", "skipped", "loaded_at", "last_reload"]
    assert (ready["status"], ready["stores"], ready["companies"], ready["skipped"]) == ("ready", 4, 3, 0)
    assert ready["version"] == replica.current.dataset.version
    assert ready["last_reload"] == {"at": ready["last_reload"]["at"], "ok": True, "error": None}
    assert datetime.fromisoformat(ready["loaded_at"]) <= datetime.now(UTC)


async def test_a_failed_load_is_told_and_what_was_served_stays(client: Client, replica: Replica) -> None:
    write_directory(replica.source, [store("s1", city=None)])
    with pytest.raises(Refused):
        replica.load()
    ready = await (await client.get("/ready")).json()
    assert (ready["stores"], ready["last_reload"]["ok"]) == (4, False)
    assert "city" in ready["last_reload"]["error"]
    assert (await samples(client))["store_directory_reload_success"] == 0
    assert (await client.get("/stores", headers=HEADERS)).status == 200


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
    assert 0 <= told["store_directory_dataset_age_seconds"] < 60

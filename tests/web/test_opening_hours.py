"""Opening hours over HTTP: what is served, and the stores that are open at a time."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from service.dataset import InvalidRecords
from service.loading.dataset import accept, load
from service.publishing.snapshot import SnapshotHolder
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import Client

BERLIN = {
    "timezone": "Europe/Berlin",
    "hours": [{"day": "friday", "opens": "09:00", "closes": "18:00"}],
    "exception_hours": [{"valid_from": "2026-12-25", "valid_through": "2026-12-26", "title": 'Holi"days", 25 & 26'}],
}
NEW_YORK = {**BERLIN, "timezone": "America/New_York", "exception_hours": []}
HOURS = {"berlin": BERLIN, "new york": NEW_YORK, "unknown": None, "closed": {**BERLIN, "hours": []}, "shut": BERLIN}
MORNING = "2026-11-27T10:30:00%2B01:00"


async def serve_hours(snapshots: SnapshotHolder, folder: Path, hours: dict[str, Any]) -> None:
    stores = [
        store(name, is_open=name != "shut", latitude="1", longitude="1", attributes={"opening_hours": value})
        for name, value in hours.items()
    ]
    write_directory(folder, stores, [company()])
    (folder / "mapping.toml").write_text('[stores.attributes]\nopening_hours = { kind = "hours" }\n')
    await serve(snapshots, accept(load(folder), InvalidRecords.REFUSE))


@pytest.fixture
async def client(snapshots: SnapshotHolder, tmp_path: Path, site_client: SiteClient) -> Client:
    await serve_hours(snapshots, tmp_path / "data", HOURS)
    return await site_client(no_auth=True)


async def found(client: Client, query: str) -> list[str]:
    response = await client.get(f"/stores?{query}")
    assert response.status == 200, await response.text()
    return sorted(each["store_id"] for each in (await response.json())["data"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(f"open_at={MORNING}", ["berlin"], id="not unknown hours, nor a store that is not open"),
        pytest.param("open_at=2026-11-27T15:30Z", ["berlin", "new york"], id="each by its own clock"),
        pytest.param("open_at=2026-11-27T17:00Z", ["new york"], id="the minute of closing"),
        pytest.param("open_at=2026-12-25T15:30Z", ["new york"], id="an exception"),
        pytest.param("open_at=2026-11-27T15:30Z&store_id=new york&store_id=unknown", ["new york"], id="with a filter"),
        pytest.param(f"open_at={MORNING}&is_open=false", [], id="with its contrary"),
        pytest.param("open_at=2026-11-27T15:30Z&near=1,1&radius=5", ["berlin", "new york"], id="near a point"),
        pytest.param("open_at=&open_at=null", sorted(HOURS), id="not given"),
    ],
)
async def test_stores_are_found_that_are_open_at_a_time(client: Client, query: str, expected: list[str]) -> None:
    assert await found(client, query) == expected


async def test_all_instants_of_a_minute_are_one_request_with_one_tag(client: Client) -> None:
    spellings = (MORNING, "2026-11-27T09:30:59.9Z", "%202026-11-27 10:30 01:00", "2026-11-27T04:30-05:00")
    first, *others = [(await client.get(f"/stores?open_at={each}")).headers["ETag"] for each in spellings]
    assert others == [first] * 3
    same = await client.get("/stores?open_at=2026-11-27T09:30:31Z", headers={"If-None-Match": first})
    other = await client.get("/stores?open_at=2026-11-27T09:31:00Z", headers={"If-None-Match": first})
    assert (same.status, other.status) == (304, 200)


async def test_the_hours_are_an_object_with_all_members_or_null(client: Client) -> None:
    records = (await (await client.get("/stores?fields=store_id,attributes.opening_hours")).json())["data"]
    assert {each["store_id"]: each["attributes"]["opening_hours"] for each in records} == HOURS
    text = await (await client.get("/stores/closed")).text()
    assert '"hours":[],"exception_hours":[' in text


async def test_files_have_the_hours_and_take_the_time(client: Client, tmp_path: Path) -> None:
    lines = (await (await client.get(f"/stores.ndjson?open_at={MORNING}")).text()).splitlines()
    assert [json.loads(line)["attributes"]["opening_hours"] for line in lines] == [BERLIN]
    features = json.loads(await (await client.get(f"/stores.geojson?open_at={MORNING}")).text())["features"]
    assert [each["properties"]["attributes"]["opening_hours"] for each in features] == [BERLIN]
    exported = await (await client.get("/stores.csv")).text()
    cells = {row["store_id"]: row["attributes.opening_hours"] for row in csv.DictReader(io.StringIO(exported))}
    compact = {name: json.dumps(each, separators=(",", ":")) if each else "" for name, each in HOURS.items()}
    assert cells == compact
    again = tmp_path / "again"
    again.mkdir()
    (again / "stores.csv").write_text(exported, newline="")
    (again / "companies.json").write_bytes((tmp_path / "data" / "companies.json").read_bytes())
    (again / "mapping.toml").write_bytes((tmp_path / "data" / "mapping.toml").read_bytes())
    loaded = accept(load(again), InvalidRecords.REFUSE)
    assert loaded.version == (await client.get("/stores.csv")).headers["X-Dataset-Version"]


async def test_clusters_and_facets_count_the_stores_that_are_open(client: Client) -> None:
    box = "bbox=-180,-90,180,90&zoom=0"
    (feature,) = (await (await client.get(f"/clusters?{box}&open_at=2026-11-27T15:30Z")).json())["features"]
    assert feature["properties"]["count"] == 2
    facets = (await (await client.get("/stores?facets=is_open&open_at=2026-11-27T15:30Z")).json())["facets"]
    assert facets["is_open"]["values"] == [{"value": True, "count": 2}]


async def test_where_no_hours_are_declared_it_is_an_unknown_parameter(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    url = f"/companies?open_at={MORNING}"
    assert (await client.get(url)).headers["X-Ignored-Parameters"] == "open_at"
    await serve(snapshots, accept(load(write_directory(tmp_path / "plain", [store("s1")])), InvalidRecords.REFUSE))
    response = await client.get(f"/stores?open_at={MORNING}")
    assert (response.status, response.headers["X-Ignored-Parameters"]) == (200, "open_at")
    assert len((await response.json())["data"]) == 1


async def test_openapi_has_the_parameter_and_the_types_of_hours(client: Client) -> None:
    document = await (await client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    hours = schemas["StoreAttributes"]["properties"]["opening_hours"]["anyOf"]
    assert {"$ref": "#/components/schemas/OpeningHours"} in hours
    assert schemas["OpeningHours"]["required"] == ["timezone", "hours", "exception_hours"]
    assert schemas["DailyHour"]["required"] == ["day", "opens", "closes"]
    assert schemas["ExceptionHour"]["required"] == ["valid_from", "valid_through"]
    for path in ("/stores", "/clusters", "/stores.csv", "/stores.ndjson", "/stores.geojson"):
        assert "open_at" in {each["name"] for each in document["paths"][path]["get"]["parameters"]}
    assert "open_at" not in {each["name"] for each in document["paths"]["/companies"]["get"]["parameters"]}

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


async def test_where_no_hours_are_declared_it_is_an_unknown_parameter(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    url = f"/companies?open_at={MORNING}"
    assert (await client.get(url)).headers["X-Ignored-Parameters"] == "open_at"
    await serve(snapshots, accept(load(write_directory(tmp_path / "plain", [store("s1")])), InvalidRecords.REFUSE))
    response = await client.get(f"/stores?open_at={MORNING}")
    assert (response.status, response.headers["X-Ignored-Parameters"]) == (200, "open_at")
    assert len((await response.json())["data"]) == 1

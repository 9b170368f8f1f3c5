"""Attributes over HTTP: what is served of columns that the owner of the data declares, and when that changes."""

from pathlib import Path

import pytest

from service.dataset import Dataset, InvalidRecords
from service.loading.dataset import accept, load
from service.publishing.snapshot import SnapshotHolder
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import Client

STORES = """store_id,company_id,address_1,city,country,Services,Area,Web,Hours
1,c,a,Berlin,DE,wifi;Parking;wifi,1200.50,https://a.example,Mo-Fr 09:00-18:00
2,c,a,Berlin,DE,parking,7.50,,
3,c,a,Bonn,DE,WIFI,3,HTTP://B.example,
"""
HOURS = '[stores.attributes]\nhours = { from = "Hours", kind = "hours" }\n'
MAPPING = """[stores.attributes]
services = { from = "Services", kind = "list" }
area = { from = "Area", kind = "number" }
web = { from = "Web", kind = "url", filter = false, label = "Website", group = "Contact", show = "list" }
[companies.attributes]
logo = { from = "name" }
"""


def dataset_of(folder: Path, mapping: str) -> Dataset:
    folder.mkdir(exist_ok=True)
    (folder / "stores.csv").write_text(STORES)
    (folder / "companies.csv").write_text("company_id,name\nc,Comp\n")
    (folder / "mapping.toml").write_text(mapping)
    return accept(load(folder), InvalidRecords.REFUSE)


@pytest.fixture
async def client(snapshots: SnapshotHolder, tmp_path: Path, site_client: SiteClient) -> Client:
    await serve(snapshots, dataset_of(tmp_path / "data", MAPPING))
    return await site_client(no_auth=True)


async def test_a_record_ends_with_its_attributes_in_the_order_of_the_declaration(client: Client) -> None:
    text = await (await client.get("/stores/2")).text()
    assert text.endswith('"attributes":{"services":["parking"],"area":7.50,"web":null}}')
    assert (await (await client.get("/companies/c")).json())["attributes"] == {"logo": "Comp"}


async def test_openapi_has_the_attributes_of_the_data_that_is_served(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    response = await client.get("/openapi.json")
    schema = (await response.json())["components"]["schemas"]["StoreAttributes"]
    assert schema["required"] == ["services", "area", "web"]
    shown = {"x-label": "Website", "x-group": "Contact", "x-show": "list"}
    assert shown.items() <= schema["properties"]["web"].items()
    assert snapshots.current is not None
    assert response.headers["X-Dataset-Version"] == snapshots.current.dataset.version
    await serve(snapshots, dataset_of(tmp_path / "plain", ""))
    assert "StoreAttributes" not in (await (await client.get("/openapi.json")).json())["components"]["schemas"]


async def test_the_same_request_has_another_meaning_when_the_declaration_changes(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    url = "/stores?attributes.services=wifi&fields=store_id"
    first = await client.get(url)
    assert (await first.json())["total_count"] == 2
    await serve(snapshots, dataset_of(tmp_path / "other", MAPPING.replace("services =", "offers =")))
    second = await client.get(url, headers={"If-None-Match": first.headers["ETag"]})
    assert (second.status, second.headers["X-Ignored-Parameters"]) == (200, "attributes.services")
    assert (await second.json())["total_count"] == 3


async def test_all_instants_of_a_minute_are_one_request_with_one_tag_where_hours_are_declared(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    for path in ("/stores", "/companies"):
        response = await client.get(f"{path}?open_at=2026-11-27T09:30Z")
        assert response.headers["X-Ignored-Parameters"] == "open_at"
    await serve(snapshots, dataset_of(tmp_path / "hours", HOURS))
    spellings = ("2026-11-27T10:30:00%2B01:00", "2026-11-27T09:30:59.9Z", "%202026-11-27 10:30 01:00")
    first, *others = [(await client.get(f"/stores?open_at={each}")).headers["ETag"] for each in spellings]
    assert others == [first] * 2
    same = await client.get("/stores?open_at=2026-11-27T09:30:31Z", headers={"If-None-Match": first})
    other = await client.get("/stores?open_at=2026-11-27T09:31:00Z", headers={"If-None-Match": first})
    assert (same.status, other.status) == (304, 200)
    assert [store["store_id"] for store in (await other.json())["data"]] == ["1"]

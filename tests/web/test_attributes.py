"""Attributes over HTTP: what is served of columns that the owner of the data declares."""

from pathlib import Path

import pytest

from service.dataset import Dataset, InvalidRecords
from service.loading.dataset import accept, load
from service.publishing.snapshot import SnapshotHolder
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import Client

STORES = """store_id,company_id,address_1,city,country,Hours,Services,Drive,Area,Web,Opened
1,c,a,Berlin,DE,Mo-Sa,wifi;Parking;wifi,ja,1200.50,https://a.example,2019-02-01
2,c,a,Berlin,DE,,parking,nein,7.50,,2020-12-31
3,c,a,Bonn,DE,24/7,,,,,
4,c,a,Bonn,DE,24/7,WIFI,ja,3,HTTP://B.example,2021-05-06
"""
MAPPING = """[stores.attributes]
hours = { from = "Hours", search = true }
services = { from = "Services", kind = "list" }
drive = { from = "Drive", kind = "flag", values = { "ja" = true, "nein" = false } }
area = { from = "Area", kind = "number" }
web = { from = "Web", kind = "url", filter = false, label = "Website", group = "Contact", show = "list" }
opened = { from = "Opened", kind = "date" }
photo = { from = "Web", kind = "image", invalid = "null", filter = false }
[companies.attributes]
logo = { from = "name" }
"""


async def serve_mapping(snapshots: SnapshotHolder, folder: Path, mapping: str) -> None:
    await serve(snapshots, dataset_of(folder, mapping))


def dataset_of(folder: Path, mapping: str) -> Dataset:
    folder.mkdir(exist_ok=True)
    (folder / "stores.csv").write_text(STORES)
    (folder / "companies.csv").write_text("company_id,name\nc,Comp\n")
    (folder / "mapping.toml").write_text(mapping)
    return accept(load(folder), InvalidRecords.REFUSE)


@pytest.fixture
async def attributes_client(snapshots: SnapshotHolder, tmp_path: Path, site_client: SiteClient) -> Client:
    await serve_mapping(snapshots, tmp_path / "data", MAPPING)
    return await site_client(no_auth=True)


async def ids(client: Client, query: str) -> list[str]:
    response = await client.get(f"/stores?fields=store_id&{query}")
    assert response.status == 200, await response.text()
    return [each["store_id"] for each in (await response.json())["data"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("attributes.services=Wifi", "14"),
        ("attributes.services=wifi&attributes.services=PARKING", "124"),
        ("attributes.drive=yes", "14"),
        ("attributes.drive=null", "1234"),
        ("attributes.area=7.5", "2"),
        ("attributes.area=x", ""),
        ("attributes.opened=2019-02-01", "1"),
        ("attributes.opened=2019-2-1", ""),
        ("attributes.hours=MO-SA", "1"),
        ("attributes.web=x", "1234"),
        ("attributes.other=x", "1234"),
        ("sort_by=attributes.area", "4213"),
        ("sort_by=attributes.area&sort_order=desc", "1243"),
        ("q=24", "34"),
        ("city=berlin&attributes.drive=true", "1"),
    ],
)
async def test_filters_and_orders_of_attributes(attributes_client: Client, query: str, expected: str) -> None:
    assert "".join(await ids(attributes_client, query)) == expected


async def test_a_record_ends_with_its_attributes_in_the_order_of_the_declaration(attributes_client: Client) -> None:
    text = await (await attributes_client.get("/stores/2")).text()
    expected = (
        '"attributes":{"hours":null,"services":["parking"],"drive":false,"area":7.50,"web":null,"opened":"2020-12-31",'
        '"photo":null}}'
    )
    assert text.endswith(expected)
    assert (await (await attributes_client.get("/companies/c")).json())["attributes"] == {"logo": "Comp"}


async def test_openapi_has_the_attributes_of_the_data_that_is_served(
    attributes_client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    response = await attributes_client.get("/openapi.json")
    document = await response.json()
    schema = document["components"]["schemas"]["StoreAttributes"]
    assert schema["required"] == ["hours", "services", "drive", "area", "web", "opened", "photo"]
    assert schema["properties"]["web"] == {
        "anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}],
        "x-label": "Website",
        "x-group": "Contact",
        "x-show": "list",
    }
    uri = {"type": "string", "format": "uri"}
    assert schema["properties"]["photo"] == {"anyOf": [uri, {"type": "null"}], "x-kind": "image"}
    names = [each["name"] for each in document["paths"]["/stores"]["get"]["parameters"]]
    assert names[names.index("updated_at") + 1 : names.index("near")] == [
        f"attributes.{name}" for name in ("hours", "services", "drive", "area", "opened")
    ]
    assert snapshots.current is not None
    assert response.headers["X-Dataset-Version"] == snapshots.current.dataset.version
    await serve_mapping(snapshots, tmp_path / "plain", "")
    assert (
        "StoreAttributes" not in (await (await attributes_client.get("/openapi.json")).json())["components"]["schemas"]
    )


async def test_the_same_request_has_another_meaning_when_the_declaration_changes(
    attributes_client: Client, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    url = "/stores?attributes.services=wifi&fields=store_id"
    first = await attributes_client.get(url)
    await serve_mapping(snapshots, tmp_path / "other", MAPPING.replace("services =", "offers ="))
    second = await attributes_client.get(url, headers={"If-None-Match": first.headers["ETag"]})
    assert (second.status, second.headers["X-Ignored-Parameters"]) == (200, "attributes.services")
    assert len((await second.json())["data"]) == 4
    assert await ids(attributes_client, "attributes.offers=wifi") == ["1", "4"]

"""The operations on records, over HTTP."""

import orjson
import pytest
from yarl import URL

from service import __version__
from service.baking.layout import FORMAT
from tests.web.live import HEADERS, Client, ask

NEAR = "near=43.65,-79.38"


@pytest.mark.parametrize(
    "path", ["/stores", "/stores?city=nowhere", "/companies?limit=1", "/companies/acme", "/stores/s1"]
)
async def test_responses_ready_and_metrics_have_the_same_data_version(client: Client, path: str) -> None:
    version = (await client.get(path, headers=HEADERS)).headers["X-Dataset-Version"]
    assert version == (await (await client.get("/ready")).json())["version"]
    assert f'store_directory_dataset_info{{version="{version}"}} 1.0' in await (await client.get("/metrics")).text()


async def test_metrics_have_the_version_of_the_program_and_the_format_that_it_reads(client: Client) -> None:
    build = f'store_directory_build_info{{format="{FORMAT.split()[-1]}",version="{__version__}"}} 1.0'
    assert build in await (await client.get("/metrics")).text()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["s2", "s4", "s1", "s3"]),
        ("city=%20toronto", ["s1"]),
        ("city=MONTR%C3%89AL", ["s4"]),
        ("city=o%CC%88rebro", ["s3"]),
        ("city=Toronto&city=Ottawa&city=null", ["s2", "s1"]),
        ("city=&country=null&company_id=+", ["s2", "s4", "s1", "s3"]),
        ("postal_code=m5v2t6", ["s1"]),
        ("latitude=4.37e1", ["s1"]),
        ("is_open=NO", ["s2"]),
        ("parent_company_id=acme", ["s3"]),
        ("company_id=ACME", []),
        ("store_id=s3&store_id=s1&store_id=", ["s1", "s3"]),
        ("store_id=S1", []),
        ("city=Toronto&country=SE", []),
        ("city=tor", []),
        ("sort_by=city", ["s4", "s2", "s1", "s3"]),
        ("sort_by=updated_at&sort_order=desc", ["s3", "s1", "s4", "s2"]),
        ("sort_order=desc", ["s1", "s4", "s2", "s3"]),
        ("city=a;b&unknown=1", []),
        (NEAR, ["s1", "s2", "s4", "s3"]),
        (f"{NEAR}&sort_order=desc", ["s1", "s3", "s4", "s2"]),
        (f"{NEAR}&sort_by=city", ["s4", "s2", "s1", "s3"]),
        (f"{NEAR}&radius=5787.7", []),
        (f"{NEAR}&radius=5787.8", ["s1"]),
        ("bbox=-79.4,43.7,-79.4,43.7", ["s1"]),
        ("bbox=-79.3,43,-79.5,44", []),
        ("q=first", ["s1"]),
        ("q=MAIN+orebr", ["s3"]),
        ("q=montreal", ["s4"]),
        ("q=h2x1y4", ["s4"]),
        ("q=main+acme+exa", ["s2", "s4", "s1"]),
        ("q=mai+s", []),
        ("q=mai+", []),
        ("q=!!&near=&radius=null&bbox=+", ["s2", "s4", "s1", "s3"]),
        (f"{NEAR}&q=main&city=ottawa&city=toronto", ["s1", "s2"]),
    ],
)
async def test_stores_are_filtered_found_by_place_and_words_and_sorted(
    client: Client, query: str, found: list[str]
) -> None:
    page = await (await client.get(f"/stores?{query}", headers=HEADERS)).json()
    assert ([store["store_id"] for store in page["data"]], page["total_count"]) == (found, len(found))


async def test_companies_are_found_by_words(client: Client) -> None:
    page = await (await client.get("/companies?q=example+ac", headers=HEADERS)).json()
    assert [company["company_id"] for company in page["data"]] == ["acme"]


async def test_the_distance_is_the_last_member_and_the_sort_order_is_by_it(client: Client) -> None:
    page = await (await client.get(f"/stores?{NEAR}", headers=HEADERS)).json()
    assert page["sort_by"] == "distance"
    assert [list(store)[-1] for store in page["data"]] == ["distance"] * 4
    assert [store["distance"] for store in page["data"]] == [5787.8, None, None, None]
    page = await (await client.get(f"/stores?{NEAR}&fields=distance,store_id&limit=1", headers=HEADERS)).json()
    assert page["data"] == [{"store_id": "s1", "distance": 5787.8}]
    assert "distance" not in (await (await client.get("/stores", headers=HEADERS)).json())["data"][0]


@pytest.mark.parametrize("page_num", ["2", "99999999999999999999", "9" * 4300])
async def test_a_page_past_the_last_is_empty_however_many_digits_its_number_has(client: Client, page_num: str) -> None:
    response = await client.get(f"/stores?page_num={page_num}", headers=HEADERS)
    page = orjson.loads((await response.read()).replace(page_num.encode(), b"0"))
    assert response.status == 200
    assert (page["data"], page["total_count"], page["num_pages"]) == ([], 4, 1)


@pytest.mark.parametrize("target", ["/companies/a%2Fb%20c", "/companies/a%2fb%20c?ignored=1", "/%63ompanies/a%2Fb%20c"])
async def test_an_identifier_is_one_segment_percent_decoded(client: Client, target: str) -> None:
    assert b'"name":"Slash"' in await ask(client, target)


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/companies/nobody", "Company not found"),
        ("/stores/nowhere", "Store not found"),
        ("/stores/acme", "Store not found"),
        ("/companies/s1", "Company not found"),
        ("/stores/%FF", "Store not found"),
    ],
)
async def test_an_unknown_record_is_404(client: Client, path: str, detail: str) -> None:
    response = await client.get(URL(path, encoded=True), headers=HEADERS)
    assert (response.status, await response.json()) == (404, {"detail": detail})


async def test_requests_during_loading_are_503(loading_client: Client) -> None:
    response = await loading_client.get("/stores", headers=HEADERS)
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert await response.json() == {"detail": "The data is still being loaded"}

"""The operations on records, over HTTP."""

import orjson
import pytest
from yarl import URL

from service import __version__
from service.baking.baked_file import FORMAT
from tests.interface_fields import STORE_FIELDS, members
from tests.web.live import HEADERS, Client, ask, stable_fields


async def ids(client: Client, query: str, *, of: str = "stores") -> list[str]:
    response = await client.get(f"/{of}?{query}", headers=HEADERS)
    assert response.status == 200, await response.text()
    key = "store_id" if of == "stores" else "company_id"
    return [record[key] for record in (await response.json())["data"]]


async def test_a_page_has_the_keys_of_the_envelope_in_order_and_repeats_the_parameters(client: Client) -> None:
    response = await client.get("/stores?limit=3&page_num=2&sort_by=city&sort_order=desc", headers=HEADERS)
    page = await response.json()
    assert list(page) == ["limit", "num_pages", "page_num", "sort_order", "sort_by", "total_count", "data"]
    assert {**page, "data": len(page["data"])} == {
        "limit": 3,
        "num_pages": 2,
        "page_num": 2,
        "sort_order": "desc",
        "sort_by": "city",
        "total_count": 4,
        "data": 1,
    }


async def test_a_page_is_json_that_only_private_caches_may_store(client: Client) -> None:
    response = await client.get("/stores", headers=HEADERS)
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "private, no-cache"


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


async def test_a_store_has_its_fields_in_order_null_without_a_value_and_missing_dates_omitted(client: Client) -> None:
    response = await client.get("/stores?city=ottawa", headers=HEADERS)
    (store,) = (await response.json())["data"]
    sound = {"store_id": "s2", "company_id": "acme", "address_1": "1 Main St", "city": "Ottawa", "country": "CA"}
    values = {**sound, "province": "ON", "is_open": False, "created_at": "2024-01-01T10:00:00+02:00"}
    shown = [name for name in members(STORE_FIELDS) if name != "updated_at"]
    assert list(store.items()) == [(name, values.get(name)) for name in shown]


async def test_a_company_has_its_four_fields(client: Client) -> None:
    response = await client.get("/companies/acme", headers=HEADERS)
    company = await response.json()
    assert list(company.items()) == [
        ("company_id", "acme"),
        ("name", "Acme"),
        ("domain", "acme.example"),
        ("parent_company_id", None),
    ]


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
    ],
)
async def test_stores_are_filtered_and_sorted(client: Client, query: str, found: list[str]) -> None:
    assert await ids(client, query) == found


async def test_companies_are_sorted_by_a_date_that_is_not_in_the_response(client: Client) -> None:
    assert await ids(client, "", of="companies") == ["nord", "acme", "a/b c"]


async def test_companies_are_filtered_by_every_field_of_the_response(client: Client) -> None:
    query = "company_id=acme&name=ACME&domain=Acme.Example&parent_company_id=null"
    assert await ids(client, query, of="companies") == ["acme"]


@pytest.mark.parametrize("page_num", ["2", "99999999999999999999", "9" * 4300])
async def test_a_page_past_the_last_is_empty_however_many_digits_its_number_has(client: Client, page_num: str) -> None:
    response = await client.get(f"/stores?page_num={page_num}", headers=HEADERS)
    page = orjson.loads((await response.read()).replace(page_num.encode(), b"0"))
    assert response.status == 200
    assert (page["data"], page["total_count"], page["num_pages"]) == ([], 4, 1)


async def test_no_match_has_zero_pages(client: Client) -> None:
    response = await client.get("/stores?city=Atlantis", headers=HEADERS)
    page = await response.json()
    assert (page["data"], page["total_count"], page["num_pages"]) == ([], 0, 0)


@pytest.mark.parametrize("target", ["/companies/a%2Fb%20c", "/companies/a%2fb%20c?ignored=1", "/%63ompanies/a%2Fb%20c"])
async def test_an_identifier_is_one_segment_percent_decoded(client: Client, target: str) -> None:
    assert b'"name":"Slash"' in await ask(client, target)


@pytest.mark.parametrize("store", ["s1", "s2", "s3", "s4"])
async def test_a_store_by_its_identifier_is_the_record_of_the_list(client: Client, store: str) -> None:
    one = await client.get(f"/stores/{store}", headers=HEADERS)
    page = await (await client.get(f"/stores?store_id={store}", headers=HEADERS)).json()
    assert (one.status, [await one.json()]) == (200, page["data"])
    assert "Link" not in one.headers


async def test_a_store_that_the_client_has_is_a_304(client: Client) -> None:
    tag = (await client.get("/stores/s1", headers=HEADERS)).headers["ETag"]
    again = await client.get("/stores/%731", headers=HEADERS | {"If-None-Match": tag})
    assert (again.status, again.headers["ETag"]) == (304, tag)
    assert (await client.get("/stores/s2", headers=HEADERS | {"If-None-Match": tag})).status == 200


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


@pytest.mark.parametrize(
    "path", ["/stores", "/companies", "/companies/acme", "/stores/s1", "/health", "/ready", "/docs"]
)
async def test_head_is_get_without_the_body(client: Client, path: str) -> None:
    headers = {} if path == "/ready" else HEADERS  # with a key /ready tells its age, which may grow by a digit
    head, get = await client.head(path, headers=headers), await client.get(path, headers=headers)
    assert (head.status, await head.read()) == (200, b"")
    assert stable_fields(head.headers) == stable_fields(get.headers)


async def test_requests_during_loading_are_503(loading_client: Client) -> None:
    response = await loading_client.get("/stores", headers=HEADERS)
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert await response.json() == {"detail": "The data is still being loaded"}


async def test_only_the_named_members_are_returned_in_the_order_of_the_record(client: Client) -> None:
    response = await client.get(
        "/stores?fields=updated_at,%20name&fields=store_id,&limit=3&page_num=1", headers=HEADERS
    )
    page = await response.json()
    assert [list(store.items()) for store in page["data"]] == [
        [("store_id", "s2"), ("name", None)],
        [("store_id", "s4"), ("name", None)],
        [("store_id", "s1"), ("name", "First")],
    ]
    assert (page["total_count"], page["num_pages"]) == (4, 2)
    assert 'rel="next"' in response.headers["Link"]
    assert "<?fields=updated_at,%20name&fields=store_id,&limit=3&page_num=2>" in response.headers["Link"]


async def test_a_record_without_any_of_the_named_members_is_an_empty_object(client: Client) -> None:
    page = await (await client.get("/stores?fields=updated_at&sort_by=updated_at", headers=HEADERS)).json()
    assert page["data"] == [{"updated_at": "2024-05-05T00:00:00Z"}, {}, {}, {}]


async def test_facets_count_all_matching_records_after_the_data(client: Client) -> None:
    page = await (
        await client.get("/stores?facets=is_open,city,postal_code&country=CA&limit=1", headers=HEADERS)
    ).json()
    assert list(page)[-2:] == ["data", "facets"]
    assert len(page["data"]) == 1
    assert list(page["facets"].items()) == [
        ("city", {"distinct": 3, "values": [_count("montréal"), _count("Ottawa"), _count("Toronto")]}),
        ("postal_code", {"distinct": 2, "values": [_count("H2X 1Y4"), _count("M5V 2T6"), _count(None)]}),
        ("is_open", {"distinct": 2, "values": [_count(True, 2), _count(False)]}),
    ]


def _count(value: object, count: int = 1) -> dict[str, object]:
    return {"value": value, "count": count}


async def test_facets_of_nothing_are_empty(client: Client) -> None:
    page = await (await client.get("/companies?facets=domain&name=nobody", headers=HEADERS)).json()
    assert page["facets"] == {"domain": {"distinct": 0, "values": []}}


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("fields=name,city", "fields=city&fields=%20name"),
        ("facets=city,country", "facets=country,city,country"),
        ("", "fields=&facets=,"),
    ],
)
async def test_equivalent_names_have_one_tag(client: Client, query: str, same: str) -> None:
    one, other = [await client.get(f"/stores?{each}", headers=HEADERS) for each in (query, same)]
    assert one.headers["ETag"] == other.headers["ETag"]
    assert await one.read() == await other.read()


async def test_fields_and_facets_are_part_of_the_identity(client: Client) -> None:
    queries = ("", "fields=name", "fields=city", "facets=city", "facets=country", "fields=city&facets=city")
    tags = {(await client.get(f"/stores?{query}", headers=HEADERS)).headers["ETag"] for query in queries}
    assert len(tags) == len(queries)

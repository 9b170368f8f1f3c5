"""Stores near a point and in a box, and records with words, over HTTP: with all that lists can do."""

import pytest

from tests.web.live import HEADERS, Client
from tests.web.reply import ask

NEAR = "/stores?near=43.65,-79.38"


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (NEAR, ["s1", "s2", "s4", "s3"]),
        (f"{NEAR}&sort_order=desc", ["s1", "s3", "s4", "s2"]),
        (f"{NEAR}&sort_by=city", ["s4", "s2", "s1", "s3"]),
        (f"{NEAR}&radius=5787.7", []),
        (f"{NEAR}&radius=5787.8", ["s1"]),
        ("/stores?bbox=-79.4,43.7,-79.4,43.7", ["s1"]),
        ("/stores?bbox=-79.3,43,-79.5,44", []),
        ("/stores?q=first", ["s1"]),
        ("/stores?q=MAIN+orebr", ["s3"]),
        ("/stores?q=montreal", ["s4"]),
        ("/stores?q=h2x1y4", ["s4"]),
        ("/stores?q=main+acme+exa", ["s2", "s4", "s1"]),
        ("/stores?q=mai+s", []),
        ("/stores?q=mai+", []),
        ("/stores?q=!!&near=&radius=null&bbox=+", ["s2", "s4", "s1", "s3"]),
        (f"{NEAR}&q=main&city=ottawa&city=toronto", ["s1", "s2"]),
    ],
)
async def test_stores_are_found_by_place_and_words(client: Client, target: str, found: list[str]) -> None:
    page = await (await client.get(target, headers=HEADERS)).json()
    assert [store["store_id"] for store in page["data"]] == found
    assert page["total_count"] == len(found)


async def test_companies_are_found_by_words(client: Client) -> None:
    page = await (await client.get("/companies?q=example+ac", headers=HEADERS)).json()
    assert [company["company_id"] for company in page["data"]] == ["acme"]


async def test_the_distance_is_the_last_member_and_the_sort_order_is_by_it(client: Client) -> None:
    page = await (await client.get(NEAR, headers=HEADERS)).json()
    assert page["sort_by"] == "distance"
    assert [list(store)[-1] for store in page["data"]] == ["distance"] * 4
    assert [store["distance"] for store in page["data"]] == [5787.8, None, None, None]
    page = await (await client.get(f"{NEAR}&fields=distance,store_id&limit=1", headers=HEADERS)).json()
    assert page["data"] == [{"store_id": "s1", "distance": 5787.8}]
    assert "distance" not in (await (await client.get("/stores", headers=HEADERS)).json())["data"][0]


async def test_links_repeat_the_place_and_the_words(client: Client) -> None:
    query = "near=43.65,-79.38&q=main&limit=1&bbox=&radius="
    response = await client.get(f"/stores?{query}&page_num=2", headers=HEADERS)
    for relation, page_num in (("next", 3), ("prev", 1), ("last", 4)):
        assert f'<?{query}&page_num={page_num}>; rel="{relation}"' in response.headers["Link"]


async def test_facets_count_what_the_conditions_select(client: Client) -> None:
    page = await (await client.get("/stores?q=main+acme&facets=city&limit=1", headers=HEADERS)).json()
    assert page["facets"]["city"]["distinct"] == 3
    page = await (await client.get(f"{NEAR}&radius=6000&facets=city", headers=HEADERS)).json()
    assert page["facets"]["city"] == {"distinct": 1, "values": [{"value": "Toronto", "count": 1}]}


@pytest.mark.parametrize("query", ["near=43.65,-79.38", "near=43.65,-79.38&radius=1e4", "q=main", "bbox=-80,43,-79,44"])
async def test_revalidation_head_and_compression_work(client: Client, query: str) -> None:
    plain = await ask(client, f"/stores?{query}")
    assert (await ask(client, f"/stores?{query}", f"If-None-Match: {plain.etag}")).status == 304
    assert (await ask(client, f"/stores?{query}&sort_order=desc", f"If-None-Match: {plain.etag}")).status == 200
    coded = await ask(client, f"/stores?{query}", "Accept-Encoding: gzip, identity;q=0")
    assert (coded.coding, coded.plain) == ("gzip", plain.body)
    head = await client.head(f"/stores?{query}", headers=HEADERS | {"Accept-Encoding": "identity"})
    assert (head.headers["ETag"], head.headers["Content-Length"]) == (plain.etag, str(len(plain.body)))


async def test_equivalent_questions_share_their_entity_tag(client: Client) -> None:
    for targets in (
        ("near=1,2", "near=1.0,%202&sort_by=distance"),
        ("q=Foo+bar", "q=foo++BAR"),
        ("bbox=1,2,3,4", "bbox=1e0,2,%203,4.0"),
    ):
        tags = {(await ask(client, f"/stores?{target}")).etag for target in targets}
        assert len(tags) == 1


async def test_strict_handling_accepts_places_of_stores_only(client: Client) -> None:
    strict = HEADERS | {"Prefer": "handling=strict"}
    for query, status in (("near=1,2&radius=5&bbox=0,0,1,1", 422), ("q=x", 200)):
        assert (await client.get(f"/stores?{query}", headers=strict)).status == 200
        assert (await client.get(f"/companies?{query}", headers=strict)).status == status
    assert (await client.get("/stores?zoom=3", headers=strict)).status == 422


async def test_errors_of_places_and_words_come_together(client: Client) -> None:
    response = await client.get("/stores?sort_by=distance&radius=0&bbox=1&limit=0", headers=HEADERS)
    assert response.status == 422
    assert [(item["loc"], item["type"]) for item in (await response.json())["detail"]] == [
        (["query", "near"], "missing"),
        (["query", "radius"], "greater_than"),
        (["query", "bbox"], "value_error"),
        (["query", "limit"], "greater_than_equal"),
    ]

"""Stores near a point and in a box, and records with words, over HTTP: with all that lists can do."""

import pytest

from tests.web.live import HEADERS, Client

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

"""The clusters of a map, over HTTP: what they have in common with lists, and what they are in themselves."""

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from service.dataset import Dataset
from service.engine.geography import clusters
from service.model.operation import VERSION_HEADER
from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.engine import oracle
from tests.loaded import accepted, serve
from tests.thoroughness import some_of
from tests.web.live import HEADERS, Client
from tests.web.reply import Reply, ask

WORLD = "-180,-90,180,90"
CONDITIONS: list[oracle.Pairs] = [
    [],
    [("is_open", "true")],
    [("city", "toronto"), ("city", "ottawa")],
    [("company_id", "nord"), ("is_open", "no")],
    [("q", "main")],
    [("q", "main"), ("country", "se")],
    [("store_id", "s7"), ("store_id", "s8"), ("store_id", "nowhere")],
    [("city", "nowhere")],
    [("city", "nowhere"), ("country", "nowhere")],
]
BOXES = (WORLD, "-30,20,40,70", "100,-90,-100,90", "10,10,10,10", "0.5,-45,60,45.25")


def records() -> Iterator[dict[str, Any]]:
    """Yield stores everywhere, many at a few places, some without a location."""
    chance = random.Random(7)
    for number in range(400):
        latitude, longitude = chance.uniform(-90, 90), chance.uniform(-180, 180)
        if number % 3:
            latitude, longitude = chance.choice([(10, 10), (48.85, 2.35), (-33.5, 179.99)])
            longitude += chance.choice([0, 0, 0.001, 0.01])
        where = {} if number % 17 == 0 else {"latitude": f"{latitude:.5f}", "longitude": f"{longitude:.5f}"}
        yield store(
            f"s{number}",
            name=chance.choice([None, "Ö\"},{'", "Main\u2028 Store"]),
            city=chance.choice(["Toronto", "OTTAWA", "Örebro"]),
            country=chance.choice(["SE", "CA"]),
            company_id=chance.choice(["acme", "nord"]),
            is_open=chance.choice([True, True, False]),
            **where,
        )


RECORDS = list(records())
# As the oracle has them: texts.
TEXTS: list[oracle.Record] = [
    dict.fromkeys(oracle.STORES.members) | each | {"is_open": str(each["is_open"]).lower()} for each in RECORDS
]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    companies = [{"company_id": name, "name": name} for name in ("acme", "nord")]
    return accepted(write_directory(tmp_path_factory.mktemp("maps"), RECORDS, companies))


@pytest.fixture
async def maps(snapshots: SnapshotHolder, loading_client: Client, dataset: Dataset) -> Client:
    """Return a client of a service that serves `RECORDS`."""
    for cache in (dataset.stores.matches, dataset.stores.selections):
        cache.clear()
    await serve(snapshots, dataset)
    return loading_client


async def cluster(client: Client, *fields: str, bbox: str = WORLD, zoom: int = 3, more: oracle.Pairs = ()) -> Reply:
    return await ask(client, "/clusters?" + urlencode([("bbox", bbox), ("zoom", zoom), *more]), *fields)


def random_boxes(chance: random.Random, count: int) -> Iterator[str]:
    """Yield boxes of any size, at any edge of the map, many across the antimeridian; some edges are those of stores."""
    places = [(float(each["latitude"]), float(each["longitude"])) for each in RECORDS if "latitude" in each]
    latitudes = [-90, 90, *(latitude for latitude, _ in places)]
    longitudes = [-180, 180, *(longitude for _, longitude in places)]
    for _ in range(count):
        south, north = sorted(chance.choice((chance.uniform(-90, 90), chance.choice(latitudes))) for _ in range(2))
        west, east = (chance.choice((chance.uniform(-180, 180), chance.choice(longitudes))) for _ in range(2))
        yield f"{west},{south},{east},{north}"


async def test_counts_in_any_box_at_any_zoom_add_up_to_those_of_the_list(maps: Client) -> None:
    chance, totals = random.Random(8), []
    for number, bbox in enumerate(random_boxes(chance, 60)):
        conditions = chance.choice(CONDITIONS)
        page = await ask(maps, "/stores?" + urlencode([("bbox", bbox), ("limit", "1"), *conditions]))
        totals.append(page.json()["total_count"])
        for zoom in some_of(range(23), 6, number):
            features = (await cluster(maps, bbox=bbox, zoom=zoom, more=conditions)).json()["features"]
            assert sum(each["properties"]["count"] for each in features) == totals[-1]
    assert len(set(totals)) > 10


async def test_too_many_cells_are_an_error_of_zoom(maps: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a condition says: without it, the response would be the same error."""
    monkeypatch.setattr(clusters, "MAX_CELLS", 40)
    numbers = [len(oracle.clusters(TEXTS, [("bbox", WORLD), ("zoom", str(zoom))])) for zoom in range(23)]
    greatest = max(zoom for zoom, number in enumerate(numbers) if number <= 40)
    why = f"Value error, more than 40 cells; use zoom {greatest} or less"
    for fields in ([], ["If-None-Match: *"], ['If-Match: "x"'], ["Accept-Encoding: zstd"]) * 2:
        reply = await cluster(maps, *fields, zoom=greatest + 1)
        assert reply.status == 422, fields
        assert reply.json()["detail"] == [{"loc": ["query", "zoom"], "msg": why, "type": "value_error"}]
    assert (await cluster(maps, zoom=greatest)).status == 200


async def test_too_many_cells_are_an_error_like_others(maps: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MAX_CELLS", 40)
    fields = ("Prefer: handling=strict", "Accept: application/problem+json")
    many, invalid = await cluster(maps, *fields, zoom=22), await cluster(maps, *fields, zoom=23)
    assert (many.status, invalid.status) == (422, 422)
    assert many.headers["Preference-Applied"] == "handling=strict"
    assert many.headers["Content-Type"] == "application/problem+json"
    assert many.json()["errors"][0]["loc"] == invalid.json()["errors"][0]["loc"] == ["query", "zoom"]
    own = {"Content-Length", "Date", "X-Request-Id"}
    assert {name: value for name, value in many.headers.items() if name not in own} == {
        name: value for name, value in invalid.headers.items() if name not in own
    }
    head = await maps.head(f"/clusters?bbox={WORLD}&zoom=22", headers=HEADERS)
    assert (head.status, await head.read()) == (422, b"")


async def test_too_many_cells_are_no_error_before_that_of_another_version(
    maps: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "MAX_CELLS", 1)
    assert (await cluster(maps, f"{VERSION_HEADER}: 0123456789abcdef")).status == 412


async def test_a_304_to_a_client_with_the_tag_counts_nothing(maps: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = (await cluster(maps)).etag
    monkeypatch.setattr("service.web.endpoints.locations.map_clusters", None)
    assert (await cluster(maps, f"If-None-Match: {tag}")).status == 304

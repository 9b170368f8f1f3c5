"""The clusters of a map, over HTTP: what they have in common with lists, and what they are in themselves."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from service.dataset import Dataset
from service.engine.geography import clusters
from service.model.envelope import ClusterCollection
from service.model.operation import VERSION_HEADER
from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.engine import oracle
from tests.loaded import accepted, serve
from tests.thoroughness import some_of
from tests.web.live import HEADERS, Client
from tests.web.reply import Reply, ask

WORLD = "-180,-90,180,90"
STORE_MEMBERS = ("store_id", "name", "address_1", "is_open")
CONDITIONS: list[oracle.Pairs] = [
    [],
    [("is_open", "true")],
    [("city", "toronto"), ("city", "ottawa")],
    [("company_id", "nord"), ("is_open", "no")],
    [("q", "main")],
    [("q", "main"), ("country", "se")],
    [("store_id", "s7"), ("store_id", "s8"), ("store_id", "nowhere")],
    [("city", "nowhere")],
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
    for cache in (dataset.stores.found, dataset.stores.selections):
        cache.clear()
    await serve(snapshots, dataset)
    return loading_client


async def cluster(client: Client, *fields: str, bbox: str = WORLD, zoom: int = 3, more: oracle.Pairs = ()) -> Reply:
    return await ask(client, "/clusters?" + urlencode([("bbox", bbox), ("zoom", zoom), *more]), *fields)


@pytest.mark.parametrize("bbox", BOXES)
@pytest.mark.parametrize("conditions", CONDITIONS, ids=urlencode)
async def test_clusters_are_those_of_a_scan(maps: Client, conditions: oracle.Pairs, bbox: str) -> None:
    for zoom in (0, 2, 9, 22):
        reply = await cluster(maps, bbox=bbox, zoom=zoom, more=conditions)
        assert (reply.status, reply.headers["Content-Type"]) == (200, "application/geo+json")
        found, expected = reply.json(), oracle.clusters(TEXTS, [("bbox", bbox), ("zoom", str(zoom)), *conditions])
        assert found == {"type": "FeatureCollection", "features": expected}
        msgspec.json.decode(reply.body, type=ClusterCollection)


@pytest.mark.parametrize("bbox", BOXES)
@pytest.mark.parametrize("conditions", CONDITIONS, ids=urlencode)
async def test_counts_add_up_to_those_of_the_list(maps: Client, conditions: oracle.Pairs, bbox: str) -> None:
    page = await ask(maps, "/stores?" + urlencode([("bbox", bbox), ("limit", "1"), *conditions]))
    for zoom in some_of(range(23), 6, BOXES.index(bbox)):
        features = (await cluster(maps, bbox=bbox, zoom=zoom, more=conditions)).json()["features"]
        assert sum(each["properties"]["count"] for each in features) == page.json()["total_count"]


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


async def test_stores_without_a_location_are_not_counted(maps: Client) -> None:
    features = (await cluster(maps, zoom=0)).json()["features"]
    located = sum("latitude" in each for each in RECORDS)
    assert sum(each["properties"]["count"] for each in features) == located < len(RECORDS)


async def test_a_cluster_of_one_store_has_its_members_as_they_are(maps: Client) -> None:
    features = (await cluster(maps, zoom=22)).json()["features"]
    by_id = {each["store_id"]: each for each in RECORDS}
    single = [each for each in features if each["properties"]["count"] == 1]
    assert len(single) > 50
    for each in single:
        record = by_id[each["properties"]["store_id"]]
        assert list(each["properties"]) == ["count", *STORE_MEMBERS]
        assert all(each["properties"][name] == record[name] for name in STORE_MEMBERS)
        assert each["geometry"]["coordinates"] == [float(record["longitude"]), float(record["latitude"])]
    assert all(list(each["properties"]) == ["count"] for each in features if each not in single)


async def test_nowhere_is_an_empty_collection(maps: Client) -> None:
    assert (await cluster(maps, bbox="11,11,12,12")).json() == {"type": "FeatureCollection", "features": []}


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("", [("bbox", "missing", "Field required"), ("zoom", "missing", "Field required")]),
        ("bbox=&zoom=null", [("bbox", "missing", "Field required"), ("zoom", "missing", "Field required")]),
        (f"bbox={WORLD}&zoom=-1", [("zoom", "greater_than_equal", "Input should be greater than or equal to 0")]),
        (f"bbox={WORLD}&zoom=23", [("zoom", "less_than_equal", "Input should be less than or equal to 22")]),
        (f"bbox={WORLD}&zoom=1&zoom=1", [("zoom", "multiple_values", "Input should be given once")]),
        (f"bbox={WORLD}&bbox={WORLD}&zoom=1", [("bbox", "multiple_values", "Input should be given once")]),
        ("bbox=0,1,0,-1&zoom=1", [("bbox", "value_error", "Value error, south must not be greater than north")]),
        (
            f"bbox={WORLD}&zoom=x",
            [("zoom", "int_parsing", "Input should be a valid integer, unable to parse string as an integer")],
        ),
    ],
)
async def test_errors_of_parameters(client: Client, query: str, faults: list[tuple[str, str, str]]) -> None:
    reply = await ask(client, f"/clusters?{query}")
    assert reply.status == 422
    assert [(each["loc"], each["type"], each["msg"]) for each in reply.json()["detail"]] == [
        (["query", name], kind, msg) for name, kind, msg in faults
    ]


async def test_errors_are_in_the_order_of_the_parameters(client: Client) -> None:
    reply = await ask(client, f"/clusters?q={'a+' * 17}&zoom=x&is_open=maybe&bbox=1")
    assert [each["loc"][1] for each in reply.json()["detail"]] == ["is_open", "bbox", "zoom", "q"]


async def test_integers_are_written_as_elsewhere(client: Client) -> None:
    tags = {
        (await ask(client, f"/clusters?bbox={WORLD}&zoom={zoom}")).etag
        for zoom in ("3", "+3", "%2B03", "3.0", "&zoom=3")
    }
    assert len(tags) == 1


@pytest.mark.parametrize("fields", [[], ["If-None-Match: *"], ['If-Match: "x"'], ["Accept-Encoding: zstd"]])
async def test_too_many_cells_are_an_error_of_zoom(
    maps: Client, monkeypatch: pytest.MonkeyPatch, fields: list[str]
) -> None:
    """Whatever a condition says: without it, the response would be the same error."""
    monkeypatch.setattr(clusters, "MAX_CELLS", 40)
    numbers = [len(oracle.clusters(TEXTS, [("bbox", WORLD), ("zoom", str(zoom))])) for zoom in range(23)]
    greatest = max(zoom for zoom, number in enumerate(numbers) if number <= 40)
    for _ in range(2):
        reply = await cluster(maps, *fields, zoom=greatest + 1)
        assert reply.status == 422
        assert reply.json()["detail"] == [
            {
                "loc": ["query", "zoom"],
                "msg": f"Value error, more than 40 cells; use zoom {greatest} or less",
                "type": "value_error",
            }
        ]
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


async def test_parameters_of_lists_are_unknown(client: Client) -> None:
    for name, value in (
        ("near", "x"),
        ("radius", "0"),
        ("limit", "0"),
        ("sort_by", "x"),
        ("fields", "x"),
        ("name", "x"),
    ):
        assert (await cluster(client, more=[(name, value)])).status == 200
        reply = await cluster(client, "Prefer: handling=strict", more=[(name, value)])
        assert (reply.status, reply.headers["Preference-Applied"]) == (422, "handling=strict")
        assert [each["type"] for each in reply.json()["detail"]] == ["extra_forbidden"]
    assert (await cluster(client, "Prefer: handling=strict", more=[("store_id", "s1"), ("q", "x")])).status == 200


async def test_each_parameter_is_part_of_the_identity(maps: Client) -> None:
    asked = [
        {"zoom": 4},
        {"zoom": 5},
        {"bbox": "-180,-90,180,89"},
        {"more": [("store_id", "s1")]},
        {"more": [("is_open", "true")]},
        {"more": [("q", "main")]},
        {"more": [("q", "main ")]},
    ]
    tags = [(await cluster(maps, **each)).etag for each in asked]  # type: ignore[arg-type]
    tags.append((await ask(maps, f"/stores?bbox={WORLD}")).etag)
    assert all(one != other for one, other in combinations(tags, 2))


async def test_revalidation_head_and_compression_work(maps: Client) -> None:
    plain = await cluster(maps, zoom=5)
    assert plain.headers[VERSION_HEADER]
    assert "Link" not in plain.headers
    again = await cluster(maps, f"If-None-Match: {plain.etag}", zoom=5)
    assert (again.status, again.body, again.etag) == (304, b"", plain.etag)
    assert (await cluster(maps, "If-None-Match: *", zoom=5)).status == 304
    assert (await cluster(maps, 'If-Match: "other"', zoom=5)).status == 412
    assert (await cluster(maps, f"If-None-Match: {plain.etag}", zoom=4)).status == 200
    for coding in ("gzip", "br", "zstd"):
        for _ in range(2):  # computed, then from the cache
            coded = await cluster(maps, f"Accept-Encoding: {coding}", zoom=5)
            assert (coded.coding, coded.plain) == (coding, plain.body)
            assert coded.headers["Content-Type"] == "application/geo+json"
            again = await cluster(maps, f"Accept-Encoding: {coding}", f"If-None-Match: {coded.etag}", zoom=5)
            assert again.status == 304
    target = f"/clusters?bbox={WORLD}&zoom=5"
    head = await maps.head(target, headers=HEADERS | {"Accept-Encoding": "identity"})
    assert (head.headers["ETag"], head.headers["Content-Length"]) == (plain.etag, str(len(plain.body)))


async def test_a_304_to_a_client_with_the_tag_counts_nothing(maps: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = (await cluster(maps)).etag
    monkeypatch.setattr("service.web.endpoints.clusters.map_clusters", None)
    assert (await cluster(maps, f"If-None-Match: {tag}")).status == 304


async def test_clusters_need_a_key_and_errors_link_to_the_documentation(client: Client) -> None:
    reply = await ask(client, f"/clusters?bbox={WORLD}&zoom=1", key="")
    assert (reply.status, reply.headers["Link"]) == (401, '</docs>; rel="help"')


async def test_a_moved_map_finds_its_rows_once(
    maps: Client, monkeypatch: pytest.MonkeyPatch, snapshots: SnapshotHolder
) -> None:
    """Rows are found without the box, so that the next box finds them in the cache."""
    conditions = [("is_open", "true"), ("country", "ca")]
    plain = (await cluster(maps, bbox=BOXES[1], more=conditions)).body
    await cluster(maps, more=conditions)
    monkeypatch.setattr("service.engine.select._find", None)
    assert (await cluster(maps, bbox=BOXES[1], more=conditions)).body == plain
    assert snapshots.current is not None

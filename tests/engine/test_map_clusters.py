"""Clusters of a table that a query asks for, compared with a naive scan: each way to find the rows."""

import gc
import json
from random import Random

import pytest

from service.engine.results import map_clusters
from service.engine.select import nearest
from service.model.coordinates import Coordinates
from service.model.parameters import map_parameters_of
from service.model.query import ALL_ROWS, QueryParser
from service.model.records import COMPANIES, STORES
from tests.engine.oracle import Pairs, clusters, flag
from tests.engine.random_records import OWNERS, build
from tests.engine.test_places import served

PARSER = QueryParser(STORES, map_parameters_of(STORES))
BOXES = ("-180,-90,180,90", "-120,-45.5,60,70", "179,-90,-170,90")
CONDITIONS: list[Pairs] = [
    [],
    [("is_open", "true")],
    [("is_open", "true"), ("country", "ca"), ("city", "toronto")],
    [("q", "shop")],
    [("q", "lion"), ("city", "ottawa"), ("city", "東京")],
    [("company_id", "none"), ("country", "se")],
    [("store_id", "s1"), ("store_id", "s699"), ("q", "main")],
    [("city", "nowhere")],
    [("city", "nowhere"), ("city", "elsewhere"), ("country", "ca")],
]


@pytest.mark.parametrize("seed", range(2))
def test_clusters_are_those_of_a_scan(seed: int) -> None:
    records, table = served(seed)
    random = Random(seed)
    for conditions in CONDITIONS:
        for bbox in BOXES:  # of which the later ones find the rows cached
            pairs = [("bbox", bbox), ("zoom", str(random.randrange(23))), *conditions]
            found = json.loads(b"".join(map_clusters(table, PARSER.parse(pairs, strict=True))))
            for each in found["features"]:
                if "is_open" in each["properties"]:  # a text in this table
                    each["properties"]["is_open"] = flag(each["properties"]["is_open"])
            assert found == {"type": "FeatureCollection", "features": clusters(records, pairs, OWNERS)}


@pytest.mark.parametrize("text", ["0", "-0", "-0.0", "-1e-999", "1e-999"])
def test_the_position_of_a_cluster_at_zero_has_no_sign(text: str) -> None:
    record = {**served(0)[0][0], "latitude": text, "longitude": text}
    pairs = [("bbox", BOXES[0]), ("zoom", "3")]
    found = b"".join(map_clusters(build(STORES, [record]), PARSER.parse(pairs, strict=True)))
    assert b'"coordinates":[0.0,0.0]' in found
    (feature,) = clusters([record], pairs)
    assert str(feature["geometry"]["coordinates"]) == "[0.0, 0.0]"


def test_rows_without_locations_have_no_clusters() -> None:
    query = PARSER.parse([("bbox", BOXES[0]), ("zoom", "0")], strict=True)
    with pytest.raises(ValueError, match=r"^clusters need locations"):
        map_clusters(build(COMPANIES, []), query)
    with pytest.raises(ValueError, match=r"^the rows have no locations"):
        nearest(build(COMPANIES, []), ALL_ROWS, Coordinates(0, 0), 1)


def test_a_request_for_clusters_leaves_nothing_behind() -> None:
    _, table = served(0)
    query = PARSER.parse([("bbox", BOXES[0]), ("zoom", "3")], strict=True)
    map_clusters(table, query)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100):
        map_clusters(table, query)
    gc.collect()
    assert len(gc.get_objects()) - before < 100

"""Clusters of a table that a query asks for, compared with a naive scan: each way to find the rows."""

import gc
import json
from random import Random
from typing import Any

import msgspec
import pytest

from service.engine.results import map_clusters
from service.engine.select import nearest, select
from service.engine.table import Table
from service.loading.opening_hours import open_times
from service.model.coordinates import Box, Circle, Coordinates
from service.model.hours import DAYS, DailyHour, OpeningHours
from service.model.parameters import map_parameters_of
from service.model.query import ALL_ROWS, Criteria, Filter, Query, QueryParser
from service.model.records import COMPANIES, CREATED_AT, STORES
from service.model.words import Term
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


# A value of each member of the criteria, which some of the stores match.
MEMBERS: dict[str, Any] = {
    "filters": (Filter("is_open", ("1",)), Filter("country", ("ca",))),
    "circle": Circle(Coordinates(43.7, -79.4), 3e6),
    "box": Box(-120, -45.5, 60, 70),
    "terms": (Term("shop"),),
    "open_at": 0,
}


def with_hours(table: Table) -> Table:
    """Return a table whose column of countries is taken for opening hours: those but the last are always open."""
    count = table.columns["country"].null_code
    always = [DailyHour(day, "00:00", "23:59") for day in DAYS]
    distinct = [OpeningHours("UTC", tuple(always * (code < count - 1)), ()) for code in range(count)]
    table.hours = open_times("country", distinct)
    return table


@pytest.mark.parametrize("name", Criteria.__struct_fields__)
def test_each_condition_selects_fewer_rows_than_one_filter_alone(name: str) -> None:
    table = with_hours(served(0)[1])
    alone = Criteria(MEMBERS["filters"][:1])
    both = msgspec.structs.replace(alone, **{name: MEMBERS[name]})
    assert 0 < select(table, both, CREATED_AT).total < select(table, alone, CREATED_AT).total


def test_clusters_are_of_the_rows_that_match_all_criteria_of_a_query() -> None:
    table = with_hours(served(0)[1])
    circle: Circle = MEMBERS["circle"]
    query = Query(
        MEMBERS["filters"], circle.centre, circle.radius, MEMBERS["box"], zoom=3, q=MEMBERS["terms"], open_at=0
    )
    assert {name for name in Criteria.__struct_fields__ if getattr(query.criteria, name) not in (None, ())} == set(
        MEMBERS
    )
    features = json.loads(b"".join(map_clusters(table, query)))["features"]
    counts = [feature["properties"]["count"] for feature in features]
    assert 0 < sum(counts) == select(table, query.criteria, CREATED_AT).total
